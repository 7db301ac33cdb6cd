package dev.tollgate.aws.credentials;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Instances of a function that share tenants' credentials. */
@ExtendWith(Engines.class)
class SharedCredentialsTest {
  private static final Instant START = Samples.NOW.truncatedTo(ChronoUnit.SECONDS);
  private static final TenantId ACME = new TenantId("acme");
  private static final String ROLE = "arn:aws:iam::000000000000:role/Tenant";

  private final long seed = new Random().nextLong();
  private final Random random = new Random(seed);
  private final ManualClock clock = new ManualClock(START);
  private final FakeSts sts = new FakeSts(clock);
  private final InMemoryCredentialStore memory = new InMemoryCredentialStore();
  private final Engines.Tables tables;

  private final CredentialFailures failures = new CredentialFailures(clock, line -> {});

  SharedCredentialsTest(Engines.Tables tables) {
    this.tables = tables;
  }

  private AssumedRoles instance(CredentialStore store) {
    return new AssumedRoles(sts, ROLE, store, failures, 100, clock, random::nextDouble);
  }

  private List<AssumedRoles> instances(int count, CredentialStore store) {
    return IntStream.range(0, count).mapToObj(i -> instance(store)).toList();
  }

  private static String keyOf(AssumedRoles instance) {
    return instance.of(ACME).resolveCredentials().accessKeyId();
  }

  @Test
  void the_instances_of_a_function_ask_sts_once() {
    assertThat(instances(50, memory)).allMatch(instance -> keyOf(instance).equals("acme-1"));
    assertThat(sts.calls()).isEqualTo(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void one_of_fifty_instances_renews_while_the_others_go_on(boolean onTheEngine) {
    CredentialStore store =
        onTheEngine
            ? new CredentialTable(tables.client(), tables.idempotency(), ROLE, failures, clock)
            : memory;
    List<AssumedRoles> instances = instances(50, store);
    instances.forEach(SharedCredentialsTest::keyOf);

    clock.advance(Duration.ofMinutes(55));
    assertThat(Race.of(50, i -> keyOf(instances.get(i)))).isSubsetOf("acme-1", "acme-2");
    assertThat(sts.calls()).isEqualTo(2);

    clock.advance(Duration.ofSeconds(46));
    assertThat(instances).allMatch(instance -> keyOf(instance).equals("acme-2"));
    assertThat(sts.calls()).isEqualTo(2);
  }

  @Test
  void a_throttled_sts_refuses_nobody_until_the_last_minute() {
    List<AssumedRoles> instances = instances(50, memory);
    instances.forEach(SharedCredentialsTest::keyOf);
    sts.throttle(true);

    long before = sts.calls();
    clock.set(START.plus(Duration.ofMinutes(45)));
    for (int seconds = 0; seconds < 14 * 60; seconds++) {
      assertThat(instances).allMatch(instance -> keyOf(instance).equals("acme-1"));
      clock.advance(Duration.ofSeconds(1));
    }
    // A renewal that fails is tried again after half a minute, by one instance.
    assertThat(sts.calls() - before).isBetween(5L, 14 * 60L / CredentialStore.RENEWAL_SECONDS);

    assertThatThrownBy(() -> keyOf(instances.get(0))).isInstanceOf(Unavailable.class);
    sts.throttle(false);
    assertThat(keyOf(instances.get(0))).isNotEqualTo("acme-1");
  }

  @Test
  void a_lost_store_refuses_nobody() {
    List<AssumedRoles> instances = instances(3, memory);
    keyOf(instances.get(0));
    memory.lose();

    assertThat(keyOf(instances.get(0))).isEqualTo("acme-1");
    assertThat(keyOf(instances.get(1))).isEqualTo("acme-2");
    clock.set(START.plus(Duration.ofMinutes(58)));
    assertThat(keyOf(instances.get(0))).isEqualTo("acme-1");
    clock.set(START.plus(Duration.ofMinutes(59)));
    assertThat(keyOf(instances.get(0))).isEqualTo("acme-3");
  }

  @ParameterizedTest
  @ValueSource(longs = {3_661, 86_400, 1_000_000_000_000L})
  void a_stored_end_that_sts_cannot_have_given_is_not_believed(long seconds) {
    AssumedRoles running = instance(memory);
    keyOf(running);
    memory.store(
        ACME, new TemporaryCredentials("planted", "secret", "token", START.plusSeconds(seconds)));

    assertThat(keyOf(instance(memory))).isEqualTo("acme-2");
    memory.store(
        ACME,
        new TemporaryCredentials("planted", "secret", "token", START.plusSeconds(2 * seconds)));
    clock.advance(Duration.ofMinutes(56));
    assertThat(keyOf(running)).isNotEqualTo("planted");
  }

  @Test
  void a_row_that_expires_within_a_minute_is_not_used() {
    memory.store(ACME, CredentialStoreContract.until(START.plusSeconds(60)));

    assertThat(keyOf(instance(memory))).isEqualTo("acme-1");
  }

  @Test
  void clocks_that_differ_by_less_than_a_minute_never_use_expired_credentials() {
    ManualClock late = new ManualClock(START.minusSeconds(59));
    AssumedRoles slow = new AssumedRoles(sts, ROLE, memory, failures, 1, late, () -> 1);
    memory.store(ACME, CredentialStoreContract.until(START.plusSeconds(90)));
    String stored = keyOf(slow);
    assertThat(stored).startsWith("ASIA");
    sts.throttle(true);

    late.set(START.plusSeconds(89).minusSeconds(59));
    assertThatThrownBy(() -> keyOf(slow)).isInstanceOf(Unavailable.class);
  }

  /** As an operator does who revokes the active sessions of a role. */
  @Test
  void revoked_credentials_are_replaced_once_for_all_instances() {
    List<AssumedRoles> instances = instances(50, memory);
    instances.forEach(SharedCredentialsTest::keyOf);
    clock.advance(Duration.ofMinutes(5));

    instances.forEach(SharedCredentialsTest::deny);

    assertThat(instances).allMatch(instance -> keyOf(instance).equals("acme-2"));
    assertThat(instance(memory)).matches(instance -> keyOf(instance).equals("acme-2"));
    assertThat(sts.calls()).isEqualTo(2);
  }

  @Test
  void newer_credentials_of_the_store_that_are_denied_too_are_replaced_at_once() {
    AssumedRoles instance = instance(memory);
    keyOf(instance);
    memory.store(ACME, CredentialStoreContract.until(START.plusSeconds(3_610)));

    deny(instance);
    assertThat(keyOf(instance)).startsWith("ASIA");
    clock.advance(Duration.ofSeconds(20));
    deny(instance);
    assertThat(keyOf(instance)).isEqualTo("acme-2");
  }

  /** Instances whose tenant role may not do what they try, for an hour and a half. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void a_storm_of_denials_is_no_storm_of_requests_to_sts(boolean shared) {
    CredentialStore store = shared ? memory : CredentialStore.NONE;
    List<AssumedRoles> instances = instances(5, store);
    instances.forEach(SharedCredentialsTest::keyOf);
    for (int second = 0; second < 90 * 60; second++) {
      long before = sts.calls();
      for (int request = 0; request < 3; request++) {
        instances.forEach(SharedCredentialsTest::deny);
      }
      assertThat(sts.calls() - before).isLessThanOrEqualTo(instances.size());
      clock.advance(Duration.ofSeconds(1));
    }
    // After 0, 1, 3, 7, 15, 31 and 63 minutes.
    assertThat(sts.calls()).isBetween(6L, 5L * (1 + 7 + 1));
  }

  @Test
  void denials_while_sts_fails_ask_it_once_a_minute_and_keep_what_there_is() {
    AssumedRoles instance = instance(CredentialStore.NONE);
    keyOf(instance);
    sts.throttle(true);
    instance.of(ACME);
    TenantSession revoked = (TenantSession) instance.of(ACME);
    revoked.deny();

    assertThatThrownBy(() -> keyOf(instance)).isInstanceOf(Unavailable.class);
    for (int second = 0; second < 60; second++) {
      revoked.deny();
      assertThat(keyOf(instance)).isEqualTo("acme-1");
      clock.advance(Duration.ofSeconds(1));
    }
    assertThat(sts.calls()).isEqualTo(2);
    sts.throttle(false);
    assertThat(keyOf(instance)).isEqualTo("acme-3");
    revoked.deny();
    assertThat(keyOf(instance)).as("an old request's denial").isEqualTo("acme-3");
  }

  /** A request with the instance's credentials is denied. */
  private static void deny(AssumedRoles instance) {
    ((TenantSession) instance.of(ACME)).deny();
  }

  /**
   * 500 instances and 200 tenants, each of which sends a request a second to a random instance, for
   * three hours. Tenants do not affect each other, so ten thousand tenants need 50 times as much.
   */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void sts_calls_are_one_for_each_tenant_in_45_minutes(boolean shared) {
    int tenants = 200;
    int hours = shared ? 3 : 1;
    List<AssumedRoles> instances = simulated(500, tenants, shared);
    TenantId[] ids =
        IntStream.range(0, tenants).mapToObj(i -> new TenantId("t" + i)).toArray(TenantId[]::new);
    for (int second = 0; second < hours * 3_600; second++) {
      for (TenantId tenant : ids) {
        instances.get(random.nextInt(instances.size())).of(tenant);
      }
      clock.advance(Duration.ofSeconds(1));
    }
    double perHour = (double) sts.calls() / hours / tenants;
    System.out.printf(
        "%s: %.2f STS calls a tenant and hour; of 10,000 tenants and 500 instances in all: %.1f"
            + " STS calls a second for each function, and %.0f requests to the table%n",
        shared ? "shared" : "not shared",
        perHour,
        perHour * 10_000 / 3_600,
        (double) memory.requests() / hours / tenants * 10_000 / 3_600);

    long most = (long) tenants * (1 + hours * 60 / 45);
    if (shared) {
      assertThat(sts.calls()).as("seed %d", seed).isBetween((long) tenants * hours, most);
    } else {
      assertThat(sts.calls()).as("seed %d", seed).isGreaterThan(100 * most);
    }
  }

  private List<AssumedRoles> simulated(int count, int tenants, boolean shared) {
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new AssumedRoles(
                    sts,
                    ROLE,
                    shared ? memory : CredentialStore.NONE,
                    failures,
                    tenants,
                    clock,
                    random::nextDouble))
        .toList();
  }
}
