package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.DirectFill;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.bucket.fill.BucketFill.Filled;
import dev.tollgate.core.bucket.fill.BucketFill.NoBucket;
import dev.tollgate.core.bucket.fill.BucketFill.NotFilled;
import dev.tollgate.core.bucket.fill.BucketMaintenance.MaintenanceResult;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BucketMaintenanceTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Action MAIL = new Action("send-email");
  private static final int RATE = 6;
  private static final int CAPACITY = 12;

  private final AdmissionFixture ports = new AdmissionFixture();
  private final BucketId bucket = new BucketId(ACME, MAIL);
  private final Claims claims = ports.claims();

  private static BucketSpec spec(FillMode mode) {
    return new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(mode, 15));
  }

  private static final MaintenanceResult NO_BUCKET =
      new MaintenanceResult(new NoBucket(), Optional.empty());

  private static MaintenanceResult notFilled(
      FillState.State state, Optional<FillState.State> newState) {
    return new MaintenanceResult(new NotFilled(state), newState);
  }

  private static void assertFilled(MaintenanceResult result, Optional<FillState.State> newState) {
    assertThat(result.fill()).isInstanceOf(Filled.class);
    assertThat(result.newState()).isEqualTo(newState);
  }

  private Bucket row() {
    return ports.buckets().find(bucket).orElseThrow();
  }

  private FillState.State state() {
    return row().fillState().state();
  }

  private InMemoryFillSchedules.Scheduled schedule() {
    return Optional.ofNullable(ports.schedules().schedules().get(bucket)).orElseThrow();
  }

  private boolean claim(int n) {
    return claims.spend(row(), n, new Attempt()) instanceof ClaimResult.Granted;
  }

  private long level() {
    return ports.queue().level(bucket);
  }

  // Hibernation.

  @ParameterizedTest
  @EnumSource
  void bucket_that_stays_full_long_enough_hibernates(FillMode mode) {
    ports.open(bucket, spec(mode));

    ports.pass(15);
    assertThat(state()).isNotEqualTo(FillState.State.HIBERNATING);
    ports.pass(45);

    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);
    assertThat(ports.schedules().schedules().values()).noneMatch(schedule -> schedule.enabled());
    assertThat(
            ports
                .buckets()
                .due(Shard.of(ACME), ports.clock().instant(), Optional.empty(), 10)
                .items())
        .isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void claim_finds_a_full_bucket_after_any_hibernation(FillMode mode) {
    ports.open(bucket, spec(mode));
    ports.pass(60);
    ports.clock().advance(Duration.ofDays(40));
    assertThat(level()).as("unexpired tokens").isZero();

    assertThat(claim(CAPACITY)).isTrue();

    assertThat(claim(1)).isFalse();
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    ports.pass(1);
    ports.clock().advance(Duration.ofSeconds(1));
    assertThat(claim(RATE)).as("filled again").isTrue();
  }

  @Test
  void used_bucket_does_not_hibernate() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    for (int minute = 0; minute < 60; minute++) {
      ports.pass(1);
      ports.clock().advance(Duration.ofSeconds(50));
      assertThat(claim(1)).isTrue();
      assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    }
  }

  @Test
  void bucket_of_a_tier_without_hibernation_does_not_hibernate() {
    ports.open(bucket, new BucketSpec(Rate.perMinute(6), 6, new FillPolicy(FillMode.PRODUCER, 0)));
    ports.pass(600);
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
  }

  @Test
  void waking_a_bucket_with_unexpired_tokens_mints_none() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(60);
    ports.clock().advance(Duration.ofHours(5));

    assertThat(claim(1)).isTrue();

    assertThat(level()).isEqualTo(CAPACITY - 1);
  }

  @Test
  void many_concurrent_wakes_mint_once() {
    for (int round = 0; round < 20; round++) {
      BucketId id = new BucketId(new TenantId("acme-" + round), MAIL);
      ports.open(id, spec(FillMode.PRODUCER));
      ports.pass(16);
      ports.clock().advance(Duration.ofDays(20));

      List<ClaimResult> answers =
          Race.of(
              2 * CAPACITY,
              i -> claims.spend(ports.buckets().find(id).orElseThrow(), 1, new Attempt()));

      long granted = answers.stream().filter(ClaimResult.Granted.class::isInstance).count();
      assertThat(granted).as("round " + round).isLessThanOrEqualTo(CAPACITY);
      // A concurrent fill counts the pending tokens, too, and may remove as many available ones.
      assertThat(granted + ports.queue().available(id))
          .isBetween((long) CAPACITY - RATE, (long) CAPACITY);
      assertThat(granted + ports.queue().level(id)).isBetween(12L, 12L + RATE);
    }
  }

  private BucketMaintenance maintenance(TokenQueue queue) {
    return new BucketMaintenance(
        ports.buckets(),
        queue,
        ports.queues(),
        ports.schedules(),
        new ReconcileRequests(ports.tenants()),
        ports.clock());
  }

  private TokenQueue queueWithCount(Supplier<Level> count) {
    return (TokenQueue)
        Proxy.newProxyInstance(
            TokenQueue.class.getClassLoader(),
            new Class<?>[] {TokenQueue.class},
            (proxy, method, arguments) ->
                method.getName().equals("countTokens")
                    ? count.get()
                    : method.invoke(ports.queue(), arguments));
  }

  @Test
  void requested_fill_succeeds_after_a_concurrent_fill_saw_a_full_bucket() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(1);
    ports.requests().begin();
    assertThat(claim(CAPACITY)).isTrue();
    ports.clock().advance(Duration.ofSeconds(60));
    BucketMaintenance late = maintenance(queueWithCount(() -> new Level(CAPACITY, 0, 0)));
    List<MaintenanceResult> overtaking = new ArrayList<>();
    TokenQueue overtaken =
        queueWithCount(
            () -> {
              if (overtaking.isEmpty()) {
                overtaking.add(late.maintain(bucket, Instant.MAX));
              }
              return ports.queue().countTokens(bucket);
            });

    maintenance(overtaken).maintainOnRequest(bucket, Instant.MAX);

    assertThat(overtaking).hasSize(1);
    assertThat(level()).as("on the way").isEqualTo(RATE);
  }

  @Test
  void concurrent_wakes_mint_at_most_a_minutes_tokens_ahead() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(16);
    ports.clock().advance(Duration.ofDays(20));
    List<MaintenanceResult> second = new ArrayList<>();
    TokenQueue slow =
        (TokenQueue)
            Proxy.newProxyInstance(
                TokenQueue.class.getClassLoader(),
                new Class<?>[] {TokenQueue.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("put") && second.isEmpty()) {
                    second.add(ports.maintenance().maintainOnRequest(bucket, Instant.MAX));
                  }
                  return method.invoke(ports.queue(), arguments);
                });

    new BucketMaintenance(
            ports.buckets(),
            slow,
            ports.queues(),
            ports.schedules(),
            new ReconcileRequests(ports.tenants()),
            ports.clock())
        .maintainOnRequest(bucket, Instant.MAX);

    assertThat(second).hasSize(1);
    assertThat(ports.queue().available(bucket)).isEqualTo(CAPACITY);
    assertThat(level()).as("level with a minute's tokens on the way").isBetween(12L, 12L + RATE);
  }

  @Test
  void bucket_that_cannot_be_woken_grants_its_tokens_and_is_woken_by_a_later_claim() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(16);
    ports.buckets().outage().begin("replace");

    assertThat(claim(CAPACITY)).isTrue();
    assertThat(claim(1)).isFalse();
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    ports.buckets().outage().end();
    ports.clock().advance(Duration.ofSeconds(11));
    assertThat(claim(1)).as("owed since the empty hint").isTrue();
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    assertThat(schedule().enabled()).isTrue();
  }

  @Test
  void schedule_that_failed_to_stop_is_stopped_when_it_fires() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(14);
    ports.schedules().outage().begin("put");
    ports.clock().advance(Duration.ofMinutes(2));
    assertThatThrownBy(() -> ports.maintenance().maintain(bucket, Instant.MAX))
        .isInstanceOf(Unavailable.class);
    ports.schedules().outage().end();
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);
    assertThat(schedule().enabled()).isTrue();

    ports.pass(1);

    assertThat(schedule().enabled()).isFalse();
    assertThat(level()).isEqualTo(CAPACITY);
  }

  @Test
  void schedule_that_failed_to_start_is_started_by_a_claim_at_the_empty_bucket() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.pass(16);
    ports.schedules().outage().begin("put");
    assertThat(claim(1)).isTrue();
    ports.schedules().outage().end();
    assertThat(state()).as("the row").isEqualTo(FillState.State.PRODUCED);
    assertThat(schedule().enabled()).isFalse();
    ports.pass(5);
    assertThat(claim(CAPACITY - 1)).as("held").isTrue();

    assertThat(claim(1)).isFalse();

    assertThat(schedule().enabled()).isTrue();
    ports.clock().advance(Duration.ofSeconds(1));
    assertThat(claim(RATE)).as("owed").isTrue();
  }

  @Test
  void schedule_of_a_deleted_bucket_is_deleted_when_it_fires() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    ports.buckets().remove(bucket);

    assertThat(ports.maintenance().maintain(bucket, Instant.MAX)).isEqualTo(NO_BUCKET);

    assertThat(ports.schedules().schedules()).isEmpty();
  }

  // Results.

  @ParameterizedTest
  @EnumSource(names = {"PRODUCER", "SHARED"})
  void result_of_a_fill_has_a_new_state_only_if_it_changed(FillMode mode) {
    ports.open(bucket, spec(mode));
    ports.pass(1);
    BucketMaintenance maintenance = ports.maintenance();
    assertFilled(maintain(maintenance), Optional.empty());
    ports.clock().advance(Duration.ofMinutes(15));

    assertFilled(maintain(maintenance), Optional.of(FillState.State.HIBERNATING));
    assertFilled(
        maintenance.maintainOnRequest(bucket, Instant.MAX), Optional.of(FillState.State.PRODUCED));
    ports.clock().advance(Duration.ofMinutes(2));
    assertFilled(maintenance.maintainOnRequest(bucket, Instant.MAX), Optional.empty());
  }

  private MaintenanceResult maintain(BucketMaintenance maintenance) {
    return row().spec().fillPolicy().mode() == FillMode.SHARED
        ? maintenance.maintainInShard(bucket, Instant.MAX)
        : maintenance.maintain(bucket, Instant.MAX);
  }

  @Test
  void results_of_a_bucket_that_becomes_direct_and_hibernates() {
    ports.open(bucket, spec(FillMode.DIRECT));
    ports.clock().advance(Duration.ofMinutes(1));
    assertFilled(maintain(ports.maintenance()), Optional.empty());
    ports.buckets().replace(row().retuned(spec(FillMode.DIRECT), ports.clock().instant()));
    ports.clock().advance(Duration.ofMinutes(20));
    assertFilled(maintain(ports.maintenance()), Optional.of(FillState.State.DIRECT));

    assertThat(ports.maintenance().maintainInShard(bucket, Instant.MAX))
        .isEqualTo(notFilled(FillState.State.DIRECT, Optional.empty()));

    putTokens(CAPACITY);
    ports.maintenance().maintainInShard(bucket, Instant.MAX);
    ports.clock().advance(Duration.ofMinutes(15));
    putTokens(CAPACITY);
    assertThat(ports.maintenance().maintainInShard(bucket, Instant.MAX))
        .isEqualTo(notFilled(FillState.State.DIRECT, Optional.of(FillState.State.HIBERNATING)));
  }

  /** Sends tokens, as the schedule of a directly filled bucket does. */
  private void putTokens(int tokens) {
    Instant now = ports.clock().instant();
    ports.queue().put(bucket, Collections.nCopies(tokens, new Token("direct", bucket, now, now)));
  }

  @Test
  void request_for_a_deleted_bucket_has_no_effect() {
    assertThat(ports.maintenance().maintainOnRequest(bucket, Instant.MAX)).isEqualTo(NO_BUCKET);
  }

  @Test
  void request_for_a_bucket_that_needs_no_fill_finds_that_its_queue_is_missing() {
    ports.open(bucket, spec(FillMode.PRODUCER));
    settledTenant();
    claim(CAPACITY);
    assertThat(claim(1)).isFalse();
    assertThat(row().at(ports.clock().instant()).needsFill()).isFalse();
    ports.queue().delete(bucket);

    assertThatThrownBy(() -> ports.maintenance().maintainOnRequest(bucket, Instant.MAX))
        .isInstanceOf(MissingQueue.class);

    assertThat(ports.tenants().find(ACME).orElseThrow().isSettled()).isFalse();
  }

  // Weaknesses of AWS.

  @ParameterizedTest
  @EnumSource
  void second_firing_of_a_schedule_changes_nothing(FillMode mode) {
    ports.open(bucket, spec(mode));
    for (int minute = 0; minute < 5; minute++) {
      ports.pass(1);
      ports.maintenance().maintain(bucket, Instant.MAX);
      assertThat(level()).as("minute " + minute).isEqualTo(CAPACITY);
    }
  }

  @Test
  void shard_with_a_stale_index_ignores_hibernating_and_deleted_buckets() {
    ports.open(bucket, spec(FillMode.SHARED));
    ports.pass(20);
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    assertThat(ports.maintenance().maintainInShard(bucket, Instant.MAX))
        .isEqualTo(notFilled(FillState.State.HIBERNATING, Optional.empty()));
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    ports.buckets().remove(bucket);
    assertThat(ports.maintenance().maintainInShard(bucket, Instant.MAX)).isEqualTo(NO_BUCKET);
    assertThat(ports.buckets().find(bucket)).isEmpty();
    assertThat(ports.schedules().schedules()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void shard_fill_without_a_queue_has_the_tenant_reconciled(FillMode mode) {
    ports.open(bucket, spec(mode));
    settledTenant();
    ports.queue().delete(bucket);

    if (mode == FillMode.SHARED) {
      assertThatThrownBy(() -> ports.maintenance().maintainInShard(bucket, Instant.MAX))
          .isInstanceOf(MissingQueue.class);
    } else {
      assertThatThrownBy(() -> ports.maintenance().maintain(bucket, Instant.MAX))
          .isInstanceOf(MissingQueue.class);
    }

    assertThat(ports.tenants().find(ACME).orElseThrow().isSettled()).isFalse();
  }

  @Test
  void check_of_a_direct_bucket_without_a_queue_has_the_tenant_reconciled() {
    ports.open(bucket, spec(FillMode.DIRECT));
    ports.pass(18);
    assertThat(state()).isEqualTo(FillState.State.DIRECT);
    settledTenant();
    ports.queue().delete(bucket);

    assertThatThrownBy(() -> ports.maintenance().maintainInShard(bucket, Instant.MAX))
        .isInstanceOf(MissingQueue.class);

    assertThat(ports.tenants().find(ACME).orElseThrow().isSettled()).isFalse();
  }

  private void settledTenant() {
    Tenant tenant = Tenant.onboarded(ACME, Tier.DEFAULTS.get(0), Overrides.NONE);
    ports.tenants().create(tenant);
    ports.tenants().markObserved(ACME, tenant.version());
    assertThat(ports.tenants().find(ACME).orElseThrow().isSettled()).isTrue();
  }

  // Direct fills.

  @Test
  void bucket_becomes_direct_once_its_tokens_are_of_all_ages_and_expire() {
    ports.open(bucket, new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.DIRECT, 0)));
    assertThat(ports.queue().lifetime(bucket)).isEqualTo(DirectFill.LONGEST_LIFETIME);

    ports.pass(2);
    assertThat(ports.queue().lifetime(bucket)).isEqualTo(Duration.ofMinutes(2));
    ports.pass(14);
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    ports.pass(1);

    assertThat(state()).isEqualTo(FillState.State.DIRECT);
    assertThat(schedule().state()).isEqualTo(FillState.State.DIRECT);
  }

  @Test
  void fill_before_direct_filling_renews_as_many_tokens_as_it_does_not_mint() {
    ports.open(bucket, spec(FillMode.DIRECT));
    assertThat(claim(4)).isTrue();
    ports.clock().advance(Duration.ofMinutes(1));
    ports.maintenance().maintain(bucket, Instant.MAX);

    List<Lease> all = new ArrayList<>();
    for (int batch = 0; batch < 2; batch++) {
      all.addAll(ports.queue().reserve(bucket, 10, Claims.LEASE, TokenQueue.Search.SHORT));
    }
    assertThat(all).hasSize(CAPACITY);
    assertThat(all)
        .filteredOn(lease -> lease.mintedAt().equals(ports.clock().instant()))
        .hasSize(RATE);
  }

  @Test
  void fill_before_direct_filling_renews_no_token_that_it_could_not_spend() {
    ports.open(bucket, spec(FillMode.DIRECT));
    Faults faults = new Faults();
    faults.plan(3, Faults.concurrently(() -> ports.clock().advance(Duration.ofSeconds(31))));

    maintenance(faults.around(TokenQueue.class, ports.queue())).maintain(bucket, Instant.MAX);

    assertThat(faults.calls())
        .containsExactly("TokenQueue.countTokens", "TokenQueue.reserve", "TokenQueue.settle");
    assertThat(level()).isEqualTo(CAPACITY);
  }

  @Test
  void lifetime_of_the_tokens_is_not_set_while_it_stays_the_longest() {
    ports.open(bucket, spec(FillMode.DIRECT));
    Faults faults = new Faults();

    new BucketMaintenance(
            ports.buckets(),
            ports.queue(),
            faults.around(BucketQueues.class, ports.queues()),
            ports.schedules(),
            new ReconcileRequests(ports.tenants()),
            ports.clock())
        .maintain(bucket, Instant.MAX);

    assertThat(faults.calls()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void full_bucket_that_changes_its_mode_stays_full_within_a_minutes_tokens(FillMode from) {
    for (FillMode to : FillMode.values()) {
      String name = (from + "-" + to).toLowerCase(Locale.ROOT);
      BucketId id = new BucketId(new TenantId(name), MAIL);
      ports.open(id, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(from, 0)));
      ports.pass(40);
      ports.clock().advance(Duration.ofSeconds(20));
      ports.retune(id, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(to, 0)));

      for (int minute = 0; minute < 60; minute++) {
        ports.pass(1);
        assertThat(ports.queue().level(id))
            .as(from + " to " + to + ", minute " + minute)
            .isBetween((long) CAPACITY - RATE, (long) CAPACITY + RATE);
      }
      assertThat(ports.queue().level(id)).isEqualTo(CAPACITY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void refused_caller_is_admitted_at_retryAt(FillMode mode) {
    ports.open(bucket, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(mode, 15)));
    for (int minute = 0; minute < 40; minute++) {
      ports.pass(1);
      while (claim(1)) {
        ports.clock().advance(Duration.ofMillis(10));
      }
    }
    ClaimResult refused = claims.spend(row(), 1, new Attempt());
    assertThat(refused).isInstanceOf(ClaimResult.Denied.class);

    ports.passUntil(((ClaimResult.Denied) refused).retryAt());

    assertThat(claim(1)).isTrue();
  }
}
