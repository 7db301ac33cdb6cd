package dev.tollgate.aws.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.AssumeRoleRequest;
import software.amazon.awssdk.services.sts.model.AssumeRoleResponse;
import software.amazon.awssdk.services.sts.model.StsException;
import software.amazon.awssdk.services.sts.model.Tag;

class AssumedRolesTest {
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final Sts sts = new Sts();
  private final List<String> log = new ArrayList<>();
  private final TenantCredentials roles =
      new AssumedRoles(
          sts,
          "arn:role",
          CredentialStore.NONE,
          new CredentialFailures(clock, log::add),
          3,
          clock,
          () -> 1);
  private final TenantId acme = new TenantId("acme");

  private String keyOf(TenantId tenant) {
    return roles.of(tenant).resolveCredentials().accessKeyId();
  }

  @Test
  void the_role_is_assumed_with_the_tenant_as_a_session_tag() {
    roles.of(acme);

    assertThat(sts.requests)
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.roleArn()).isEqualTo("arn:role");
              assertThat(request.durationSeconds()).isEqualTo(3_600);
              assertThat(request.tags())
                  .containsExactly(Tag.builder().key("tenantId").value("acme").build());
            });
  }

  @Test
  void credentials_are_cached_until_five_minutes_before_their_expiry() {
    assertThat(keyOf(acme)).isEqualTo("acme-1");

    clock.advance(Duration.ofMinutes(55).minusNanos(1));
    assertThat(keyOf(acme)).isEqualTo("acme-1");
    clock.advance(Duration.ofNanos(1));
    assertThat(keyOf(acme)).isEqualTo("acme-2");
    assertThat(keyOf(acme)).isEqualTo("acme-2");
  }

  @Test
  void every_tenant_has_its_own_credentials() {
    TenantId other = new TenantId("other");

    assertThat(keyOf(acme)).isEqualTo("acme-1");
    assertThat(keyOf(other)).isEqualTo("other-2");
    assertThat(keyOf(acme)).isEqualTo("acme-1");
  }

  @Test
  void concurrent_calls_for_one_tenant_share_one_request() {
    sts.slow = true;

    List<String> keys = Race.of(16, i -> keyOf(acme));

    assertThat(keys).containsOnly("acme-1");
    assertThat(sts.requests).hasSize(1);
  }

  @Test
  void concurrent_calls_for_different_tenants_do_not_wait_for_each_other() {
    sts.slow = true;

    Race.of(2, i -> keyOf(new TenantId("tenant-" + i)));

    assertThat(sts.wereConcurrent).isTrue();
  }

  @Test
  void a_failure_is_unavailable_to_all_callers_and_is_not_cached() {
    sts.failing = true;
    sts.slow = true;

    Race.of(
        4,
        i -> {
          assertThatThrownBy(() -> roles.of(acme))
              .isInstanceOf(NoCredentials.class)
              .hasMessageContaining("AssumeRole");
          return i;
        });

    sts.failing = false;
    assertThat(keyOf(acme)).startsWith("acme-");
  }

  @Test
  void failures_are_published_once_a_minute_with_their_number_and_the_last_reason() {
    sts.failing = true;
    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(() -> roles.of(acme)).isInstanceOf(NoCredentials.class);
      clock.advance(Duration.ofSeconds(20));
    }

    assertThat(log).hasSize(2);
    assertThat(log.get(0)).contains("\"Source\":\"STS\"", "\"CredentialFailures\":1,");
    assertThat(log.get(1))
        .contains("\"CredentialFailures\":3,")
        .endsWith(",\"reason\":\"STS AssumeRole for acme: Rate exceeded\"}");
  }

  @Test
  void the_credentials_of_the_recently_used_tenants_are_cached() {
    IntStream.range(0, 3).forEach(i -> roles.of(new TenantId("t" + i)));
    roles.of(new TenantId("t0"));
    roles.of(new TenantId("t3"));

    assertThat(keyOf(new TenantId("t0"))).isEqualTo("t0-1");
    assertThat(keyOf(new TenantId("t1"))).isEqualTo("t1-5");
  }

  /** Issues credentials whose access key is the tenant and the number of requests so far. */
  private final class Sts implements StsClient {
    private final List<AssumeRoleRequest> requests = new CopyOnWriteArrayList<>();
    private final CountDownLatch two = new CountDownLatch(2);
    private volatile boolean slow;
    private volatile boolean failing;
    private volatile boolean wereConcurrent;

    @Override
    public AssumeRoleResponse assumeRole(AssumeRoleRequest request) {
      requests.add(request);
      if (slow) {
        waitForAnother();
      }
      if (failing) {
        throw StsException.builder().message("Rate exceeded").statusCode(400).build();
      }
      String key = request.tags().get(0).value() + "-" + requests.size();
      return AssumeRoleResponse.builder()
          .credentials(
              credentials ->
                  credentials
                      .accessKeyId(key)
                      .secretAccessKey("secret")
                      .sessionToken("token")
                      .expiration(clock.instant().plus(Duration.ofHours(1))))
          .build();
    }

    /** Waits a short time for a second concurrent request. */
    private void waitForAnother() {
      two.countDown();
      try {
        wereConcurrent |= two.await(300, TimeUnit.MILLISECONDS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public String serviceName() {
      return "sts";
    }

    @Override
    public void close() {}
  }
}
