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
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.claim.BucketGate;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.InMemoryFillSchedules;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

  private final AdmissionFixture town = new AdmissionFixture();
  private final BucketId bucket = new BucketId(ACME, MAIL);
  private final BucketGate gate = town.gate();

  private static BucketSpec spec(FillMode mode) {
    return new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(mode, 15));
  }

  private Bucket row() {
    return town.buckets().find(bucket).orElseThrow();
  }

  private FillState.State state() {
    return row().fillState().state();
  }

  private InMemoryFillSchedules.Scheduled schedule() {
    return Optional.ofNullable(town.schedules().schedules().get(bucket)).orElseThrow();
  }

  private boolean claim(int n) {
    return gate.spend(row(), n) instanceof ClaimResult.Granted;
  }

  private long level() {
    return town.queue().level(bucket);
  }

  // Hibernation.

  @ParameterizedTest
  @EnumSource
  void bucket_that_stays_full_long_enough_hibernates(FillMode mode) {
    town.open(bucket, spec(mode));

    town.pass(15);
    assertThat(state()).isNotEqualTo(FillState.State.HIBERNATING);
    town.pass(45);

    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);
    assertThat(town.schedules().schedules().values()).noneMatch(schedule -> schedule.enabled());
    assertThat(town.buckets().due(Shard.of(ACME), town.clock().instant())).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void claim_finds_a_full_bucket_after_any_hibernation(FillMode mode) {
    town.open(bucket, spec(mode));
    town.pass(60);
    town.clock().advance(Duration.ofDays(40));
    assertThat(level()).as("tokens that have not expired").isZero();

    assertThat(claim(CAPACITY)).isTrue();

    assertThat(claim(1)).isFalse();
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    town.pass(1);
    town.clock().advance(Duration.ofSeconds(1));
    assertThat(claim(RATE)).as("filled again").isTrue();
  }

  @Test
  void used_bucket_does_not_hibernate() {
    town.open(bucket, spec(FillMode.PRODUCER));
    for (int minute = 0; minute < 60; minute++) {
      town.pass(1);
      town.clock().advance(Duration.ofSeconds(50));
      assertThat(claim(1)).isTrue();
      assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    }
  }

  @Test
  void bucket_of_a_tier_without_hibernation_does_not_hibernate() {
    town.open(bucket, new BucketSpec(Rate.perMinute(6), 6, new FillPolicy(FillMode.PRODUCER, 0)));
    town.pass(600);
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
  }

  @Test
  void waking_a_bucket_with_unexpired_tokens_mints_none() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(60);
    town.clock().advance(Duration.ofHours(5));

    assertThat(claim(1)).isTrue();

    assertThat(level()).isEqualTo(CAPACITY - 1);
  }

  @Test
  void many_concurrent_wakes_mint_once() {
    for (int round = 0; round < 20; round++) {
      BucketId id = new BucketId(new TenantId("acme-" + round), MAIL);
      town.open(id, spec(FillMode.PRODUCER));
      town.pass(16);
      town.clock().advance(Duration.ofDays(20));

      List<ClaimResult> answers =
          Race.of(2 * CAPACITY, i -> gate.spend(town.buckets().find(id).orElseThrow(), 1));

      assertThat(answers.stream().filter(ClaimResult.Granted.class::isInstance).count())
          .as("round " + round)
          .isLessThanOrEqualTo(CAPACITY);
      long granted = answers.stream().filter(ClaimResult.Granted.class::isInstance).count();
      assertThat(granted + town.queue().available(id)).isEqualTo(CAPACITY);
      assertThat(granted + town.queue().level(id)).isBetween(12L, 12L + RATE);
    }
  }

  private BucketMaintenance turns(TokenQueue queue) {
    return new BucketMaintenance(
        town.buckets(),
        queue,
        town.queues(),
        town.schedules(),
        new ReconcileRequests(town.tenants()),
        town.clock());
  }

  private TokenQueue looking(Supplier<Level> look) {
    return (TokenQueue)
        Proxy.newProxyInstance(
            TokenQueue.class.getClassLoader(),
            new Class<?>[] {TokenQueue.class},
            (proxy, method, arguments) ->
                method.getName().equals("look")
                    ? look.get()
                    : method.invoke(town.queue(), arguments));
  }

  @Test
  void requested_fill_succeeds_after_a_concurrent_fill_saw_a_full_bucket() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(1);
    town.requests().begin();
    assertThat(claim(CAPACITY)).isTrue();
    town.clock().advance(Duration.ofSeconds(60));
    BucketMaintenance late = turns(looking(() -> new Level(CAPACITY, 0, 0)));
    List<BucketMaintenance.TurnResult> overtaking = new ArrayList<>();
    TokenQueue overtaken =
        looking(
            () -> {
              if (overtaking.isEmpty()) {
                overtaking.add(late.take(bucket));
              }
              return town.queue().look(bucket);
            });

    turns(overtaken).takeOnRequest(bucket);

    assertThat(overtaking).hasSize(1);
    assertThat(level()).as("on the way").isEqualTo(RATE);
  }

  @Test
  void concurrent_wakes_mint_at_most_a_minutes_tokens_ahead() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(16);
    town.clock().advance(Duration.ofDays(20));
    List<BucketMaintenance.TurnResult> second = new ArrayList<>();
    TokenQueue slow =
        (TokenQueue)
            Proxy.newProxyInstance(
                TokenQueue.class.getClassLoader(),
                new Class<?>[] {TokenQueue.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("put") && second.isEmpty()) {
                    second.add(town.turns().takeOnRequest(bucket));
                  }
                  return method.invoke(town.queue(), arguments);
                });

    new BucketMaintenance(
            town.buckets(),
            slow,
            town.queues(),
            town.schedules(),
            new ReconcileRequests(town.tenants()),
            town.clock())
        .takeOnRequest(bucket);

    assertThat(second).hasSize(1);
    assertThat(town.queue().available(bucket)).isEqualTo(CAPACITY);
    assertThat(level()).as("with a minute's tokens to come").isBetween(12L, 12L + RATE);
  }

  @Test
  void bucket_that_cannot_be_woken_grants_its_tokens_and_is_woken_by_a_later_claim() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(16);
    town.buckets().outage().begin("replace");

    assertThat(claim(CAPACITY)).isTrue();
    assertThat(claim(1)).isFalse();
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    town.buckets().outage().end();
    town.clock().advance(Duration.ofSeconds(11));
    assertThat(claim(1)).as("owed since it was found empty").isTrue();
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    assertThat(schedule().enabled()).isTrue();
  }

  @Test
  void schedule_that_failed_to_stop_is_stopped_when_it_fires() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(14);
    town.schedules().outage().begin("put");
    town.clock().advance(Duration.ofMinutes(2));
    assertThatThrownBy(() -> town.turns().take(bucket)).isInstanceOf(Unavailable.class);
    town.schedules().outage().end();
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);
    assertThat(schedule().enabled()).isTrue();

    town.pass(1);

    assertThat(schedule().enabled()).isFalse();
    assertThat(level()).isEqualTo(CAPACITY);
  }

  @Test
  void schedule_that_failed_to_start_is_started_by_a_claim_at_the_empty_bucket() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.pass(16);
    town.schedules().outage().begin("put");
    assertThat(claim(1)).isTrue();
    town.schedules().outage().end();
    assertThat(state()).as("the row").isEqualTo(FillState.State.PRODUCED);
    assertThat(schedule().enabled()).isFalse();
    town.pass(5);
    assertThat(claim(CAPACITY - 1)).as("what it holds").isTrue();

    assertThat(claim(1)).isFalse();

    assertThat(schedule().enabled()).isTrue();
    town.clock().advance(Duration.ofSeconds(1));
    assertThat(claim(RATE)).as("what it is owed").isTrue();
  }

  @Test
  void schedule_of_a_deleted_bucket_is_deleted_when_it_fires() {
    town.open(bucket, spec(FillMode.PRODUCER));
    town.buckets().remove(bucket);

    town.pass(1);

    assertThat(town.schedules().schedules()).isEmpty();
  }

  // Weaknesses of AWS.

  @ParameterizedTest
  @EnumSource
  void second_firing_of_a_schedule_changes_nothing(FillMode mode) {
    town.open(bucket, spec(mode));
    for (int minute = 0; minute < 5; minute++) {
      town.pass(1);
      town.turns().take(bucket);
      assertThat(level()).as("minute " + minute).isEqualTo(CAPACITY);
    }
  }

  @Test
  void shard_with_a_stale_index_ignores_hibernating_and_deleted_buckets() {
    town.open(bucket, spec(FillMode.SHARED));
    town.pass(20);
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    town.turns().takeInShard(bucket);
    assertThat(state()).isEqualTo(FillState.State.HIBERNATING);

    town.buckets().remove(bucket);
    town.turns().takeInShard(bucket);
    assertThat(town.buckets().find(bucket)).isEmpty();
    assertThat(town.schedules().schedules()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void shard_fill_without_a_queue_has_the_tenant_reconciled(FillMode mode) {
    town.open(bucket, spec(mode));
    settledTenant();
    town.queue().delete(bucket);

    if (mode == FillMode.SHARED) {
      assertThatThrownBy(() -> town.turns().takeInShard(bucket)).isInstanceOf(MissingQueue.class);
    } else {
      assertThatThrownBy(() -> town.turns().take(bucket)).isInstanceOf(MissingQueue.class);
    }

    assertThat(town.tenants().find(ACME).orElseThrow().isSettled()).isFalse();
  }

  @Test
  void check_of_a_direct_bucket_without_a_queue_has_the_tenant_reconciled() {
    town.open(bucket, spec(FillMode.DIRECT));
    town.pass(18);
    assertThat(state()).isEqualTo(FillState.State.DIRECT);
    settledTenant();
    town.queue().delete(bucket);

    assertThatThrownBy(() -> town.turns().takeInShard(bucket)).isInstanceOf(MissingQueue.class);

    assertThat(town.tenants().find(ACME).orElseThrow().isSettled()).isFalse();
  }

  private void settledTenant() {
    Tenant tenant = Tenant.onboarded(ACME, Tier.DEFAULTS.get(0), Map.of());
    town.tenants().create(tenant);
    town.tenants().markObserved(ACME, tenant.version());
    assertThat(town.tenants().find(ACME).orElseThrow().isSettled()).isTrue();
  }

  // Direct fills.

  @Test
  void bucket_becomes_direct_once_its_tokens_are_of_all_ages_and_expire() {
    town.open(bucket, new BucketSpec(Rate.perMinute(6), 12, new FillPolicy(FillMode.DIRECT, 0)));
    assertThat(town.queue().lifetime(bucket)).isEqualTo(DirectFill.LONGEST_LIFETIME);

    town.pass(2);
    assertThat(town.queue().lifetime(bucket)).isEqualTo(Duration.ofMinutes(2));
    town.pass(14);
    assertThat(state()).isEqualTo(FillState.State.PRODUCED);
    town.pass(1);

    assertThat(state()).isEqualTo(FillState.State.DIRECT);
    assertThat(schedule().state()).isEqualTo(FillState.State.DIRECT);
  }

  @ParameterizedTest
  @EnumSource
  void full_bucket_that_changes_its_mode_stays_full_within_a_minutes_tokens(FillMode from) {
    for (FillMode to : FillMode.values()) {
      String name = (from + "-" + to).toLowerCase(Locale.ROOT);
      BucketId id = new BucketId(new TenantId(name), MAIL);
      town.open(id, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(from, 0)));
      town.pass(40);
      town.clock().advance(Duration.ofSeconds(20));
      town.retune(id, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(to, 0)));

      for (int minute = 0; minute < 60; minute++) {
        town.pass(1);
        assertThat(town.queue().level(id))
            .as(from + " to " + to + ", minute " + minute)
            .isBetween((long) CAPACITY - RATE, (long) CAPACITY + RATE);
      }
      assertThat(town.queue().level(id)).isEqualTo(CAPACITY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void refused_caller_is_admitted_at_retryAt(FillMode mode) {
    town.open(bucket, new BucketSpec(Rate.perMinute(RATE), CAPACITY, new FillPolicy(mode, 15)));
    for (int minute = 0; minute < 40; minute++) {
      town.pass(1);
      while (claim(1)) {
        town.clock().advance(Duration.ofMillis(10));
      }
    }
    ClaimResult refused = gate.spend(row(), 1);
    assertThat(refused).isInstanceOf(ClaimResult.Denied.class);

    town.passUntil(((ClaimResult.Denied) refused).retryAt());

    assertThat(claim(1)).isTrue();
  }
}
