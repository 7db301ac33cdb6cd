package dev.tollgate.producer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.Mockito.RETURNS_DEEP_STUBS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import com.amazonaws.services.lambda.runtime.Context;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mockito.ArgumentCaptor;

final class TokenProducerTest {
  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme = fixture.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 9L));
  private final BucketId bucket = AdmissionFixture.connects(acme);
  private final TokenProducer producer =
      new TokenProducer(
          arn -> fixture.maintenance(),
          (buckets, arn) -> fixture.shardMaintenance(buckets),
          new CurrentAuthor(),
          fixture.clock());
  private final Context context = mock(Context.class, RETURNS_DEEP_STUBS);

  @BeforeEach
  void requestId() {
    when(context.getAwsRequestId()).thenReturn("request-1");
  }

  private String fire(String tenant, String action, String time) {
    return producer.handleRequest(
        Map.of("tenantId", tenant, "action", action, "scheduledTime", time), context);
  }

  private void spendAll() {
    List<Lease> held = fixture.queue().reserve(bucket, 9, Duration.ofSeconds(30), Search.SHORT);
    fixture.queue().settle(bucket, held);
  }

  @Test
  void the_bucket_that_the_schedule_names_is_filled_for_its_minute() {
    spendAll();
    fixture.clock().advance(Duration.ofSeconds(63));
    assertThat(fire("acme", "connect", "2026-03-01T12:01:00Z")).contains(": 9 minted,");
    assertThat(fire("acme", "connect", "2026-03-01T12:01:00Z")).contains(": 0 minted,");
    assertThat(fixture.queue().level(bucket)).isEqualTo(9);
  }

  @Test
  void a_scheduled_fill_logs_one_line_with_the_delay_since_its_minute() {
    fixture.clock().advance(Duration.ofSeconds(63));
    String done = fire("acme", "connect", "2026-03-01T12:01:00Z");

    assertThat(logged())
        .contains(
            "\"Name\":\"FillDelay\",\"Unit\":\"Milliseconds\"",
            "\"FillDelay\":3000,\"tenantId\":\"acme\",\"fill\":\"" + done + "\"}");
  }

  @Test
  void a_fill_that_cannot_read_the_level_is_logged_without_a_delay_and_does_not_fail() {
    spendAll();
    fixture.clock().advance(Duration.ofSeconds(63));
    fixture.queue().outage().begin("countTokens");
    assertThat(fire("acme", "connect", "2026-03-01T12:01:00Z"))
        .startsWith("bucket connect: skipped, ");
    assertThat(logged()).startsWith("tenant acme: bucket connect: skipped").doesNotContain("Delay");

    fixture.queue().outage().end();
    fixture.clock().advance(Duration.ofSeconds(60));
    assertThat(fire("acme", "connect", "2026-03-01T12:02:00Z")).contains(": 9 minted,");
  }

  @Test
  void a_turn_of_a_shard_logs_its_delay_at_its_end_alone() {
    Map<String, String> turn = Map.of("shard", "shard-1", "scheduledTime", "2026-03-01T11:59:00Z");

    assertThat(producer.handleRequest(turn, context))
        .isEqualTo("shard-1: 0 buckets maintained, 0 failed, last one after 0.0 s");

    assertThat(logged()).contains("\"FillDelay\":60000,\"fill\":\"shard-1: ");
  }

  @Test
  void a_fill_for_a_claim_has_no_delay() {
    String done = producer.handleRequest(Map.of("tenantId", "acme", "action", "connect"), context);

    assertThat(logged()).isEqualTo("tenant acme: " + done + ", requested by a claim");
  }

  private String logged() {
    ArgumentCaptor<String> line = ArgumentCaptor.forClass(String.class);
    verify(context.getLogger()).log(line.capture());
    return line.getValue();
  }

  @Test
  void a_bucket_that_a_claim_names_is_filled_at_once() {
    spendAll();
    fixture.clock().advance(Duration.ofSeconds(20));
    assertThat(producer.handleRequest(Map.of("tenantId", "acme", "action", "connect"), context))
        .contains(": 9 minted,");
    assertThat(fixture.queue().available(bucket)).isEqualTo(3);
  }

  @Test
  void a_fill_that_has_no_time_left_is_continued_by_the_next() {
    BucketId large = new BucketId(acme.id(), new Action("large"));
    fixture
        .buckets()
        .open(
            Bucket.opened(large, new BucketSpec(Rate.perMinute(9), 50), fixture.clock().instant()));
    fixture.queue().createQueue(large);
    when(context.getRemainingTimeInMillis()).thenReturn(15_000, 50_000);

    assertThat(fire("acme", "large", "2026-03-01T12:01:00Z"))
        .isEqualTo("bucket large: 10 minted, level 10");
    assertThat(fire("acme", "large", "2026-03-01T12:02:00Z"))
        .isEqualTo("bucket large: 40 minted, level 50");
  }

  @Test
  void a_schedule_of_an_offboarded_tenant_changes_nothing() {
    assertThat(fire("nobody", "connect", "2026-03-01T12:01:00Z"))
        .isEqualTo("bucket connect: no such bucket");
  }

  @Test
  void an_unavailable_queue_fails_the_fill_of_a_bucket_that_has_missed_several() {
    fixture.clock().advance(Duration.ofMinutes(10));
    fixture.queue().outage().begin("countTokens");
    assertThatThrownBy(() -> fire("acme", "connect", "2026-03-01T12:01:00Z"))
        .isInstanceOf(Unavailable.class);
  }

  @Test
  void a_null_input_is_refused() {
    assertThatThrownBy(() -> producer.handleRequest(null, context))
        .isInstanceOf(InvalidValue.class)
        .hasMessage("input: null (expected: a JSON object)");
  }

  @ParameterizedTest
  @CsvSource({
    "ACME, connect, 2026-03-01T12:01:00Z, tenantId",
    "acme, Connect, 2026-03-01T12:01:00Z, action",
    "acme, connect, <aws.scheduler.scheduled-time>, scheduledTime",
    "acme, connect, 12:01, scheduledTime",
  })
  void an_invalid_input_is_refused_by_name(
      String tenant, String action, String time, String field) {
    assertThatThrownBy(() -> fire(tenant, action, time))
        .isInstanceOf(InvalidValue.class)
        .hasMessageStartingWith(field + ": ");
  }

  @Test
  void a_missing_input_is_refused_by_name() {
    assertThatThrownBy(() -> producer.handleRequest(Map.of("tenantId", "acme"), context))
        .hasMessage("action: missing (expected: a text)");
  }
}
