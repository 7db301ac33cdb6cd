package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.tollgate.controlplane.tiers.TierRollOut;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.Faults;
import dev.tollgate.core.testing.Faults.Fault;
import dev.tollgate.http.testing.RecordingContext;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A changed tier reaches all its tenants, whatever fails. */
class RollOutTest {
  private static final TierName OWN = new TierName("own");
  private static final Duration A_MINUTE = Duration.ofSeconds(61);

  /** The requests of a roll-out for one range of tenants, beside those for the tenants. */
  private static final int FOR_A_RANGE = 8;

  private ControlPlaneFixture at = new ControlPlaneFixture();

  /** The part of the chunks that are lost on their way. */
  private boolean losesChunks;

  private static String own(long perMinute) {
    return """
        {"isolation":"POOL","limits":{"tenantPerMinute":%d,"sessionPerMinute":5,
         "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,
         "sessionLifetime":600,"messagesPerMinute":60}}"""
        .formatted(perMinute);
  }

  private void start(int tenants, int rangeSize) {
    at = new ControlPlaneFixture();
    at.context = new RecordingContext(Duration.ofSeconds(50));
    at.deployWithRollOutRange(rangeSize);
    at.putTier("own", own(30));
    IntStream.range(0, tenants).forEach(i -> add(id(i), Overrides.NONE));
    at.duringPauses =
        duration -> {
          at.clock.advance(duration);
          deliver();
        };
    at.faults.none();
  }

  private static TenantId id(int number) {
    return new TenantId("t%05d".formatted(number));
  }

  /** A tenant in effect, with the rows of its buckets. */
  private void add(TenantId id, Overrides overrides) {
    Tenant tenant = Tenant.onboarded(id, tier(), overrides).inEffect();
    at.tenants.create(tenant);
    tenant
        .buckets()
        .forEach(
            (action, spec) ->
                at.buckets.open(Bucket.opened(new BucketId(id, action), spec, at.clock.instant())));
  }

  private Tier tier() {
    return at.tiers.find(OWN).orElseThrow();
  }

  /** Stores the tier with this rate, as its next version, without a roll-out. */
  private void change(long perMinute) {
    Tier now = tier();
    Tier next =
        new Tier(
            OWN,
            now.isolation(),
            now.limits().with(Map.of(Limit.TENANT_PER_MINUTE, perMinute)),
            now.buckets(),
            now.fillPolicy(),
            now.onUnavailable(),
            now.line(),
            now.retreat(),
            now.version(),
            now.rolledOut());
    at.tiers.put(next.withVersionAfter(now.version()));
  }

  /** Works on the requested chunks, or loses them. */
  private void deliver() {
    for (Optional<Chunk> chunk = next(); chunk.isPresent(); chunk = next()) {
      if (!losesChunks) {
        try {
          at.work(chunk.get());
        } catch (Faults.Killed | Unavailable crashed) {
          // The leader hands the range out again.
        }
      }
    }
  }

  private Optional<Chunk> next() {
    return Optional.ofNullable(at.chunks.poll());
  }

  private void sweep() {
    at.sweep();
    deliver();
    at.clock.advance(A_MINUTE);
  }

  private RollOut rollOut() {
    return at.tiers.rollOut(OWN).orElseThrow();
  }

  private boolean follows(Tenant tenant, long perMinute) {
    return tenant.limits().get(Limit.TENANT_PER_MINUTE) == perMinute
        && tenant.isSettled()
        && at.buckets.list(tenant.id()).buckets().stream()
            .allMatch(row -> row.spec().equals(tenant.buckets().get(row.id().action())));
  }

  private List<TenantId> notFollowing(long perMinute) {
    return at.tenants.list(Optional.empty(), 100_000).items().stream()
        .filter(tenant -> !follows(tenant, perMinute))
        .map(Tenant::id)
        .toList();
  }

  private void assertRolledOut(long perMinute) {
    assertThat(notFollowing(perMinute)).isEmpty();
    assertThat(TierRollOut.isRolledOut(tier())).isTrue();
    assertThat(rollOut()).isEqualTo(RollOut.of(tier()));
    assertThat(at.tenants.listPending(Optional.empty(), 10)).isEmpty();
  }

  @Test
  void thousands_of_tenants_follow_with_three_requests_each() {
    start(3_000, TierRollOut.MAX_RANGE);
    change(50);

    sweep();

    assertRolledOut(50);
    List<String> calls = at.faults.calls();
    assertThat(Collections.frequency(calls, "Tenants.replace")).isEqualTo(3_000);
    assertThat(Collections.frequency(calls, "Buckets.list")).isEqualTo(3_000);
    assertThat(Collections.frequency(calls, "Buckets.replace")).isEqualTo(3_000);
    // The sweep, and three ranges, each of which checks the tier every 128 tenants.
    assertThat(calls).hasSizeBetween(9_000, 9_000 + 9 + 3 * (FOR_A_RANGE + 7));
  }

  @Test
  void tenants_that_fail_are_repeated_alone_until_they_follow() {
    start(3_000, TierRollOut.MAX_RANGE);
    TenantId misfit = new TenantId("t01711-misfit");
    add(misfit, Overrides.of(Map.of(Limit.SESSION_TTL, 500L)));
    at.tenants.writeByNewerRelease(id(815));
    Tier shorter = tier();
    at.tiers.put(
        new Tier(
                OWN,
                shorter.isolation(),
                shorter
                    .limits()
                    .with(Map.of(Limit.TENANT_PER_MINUTE, 50L, Limit.SESSION_LIFETIME, 400L)),
                shorter.buckets(),
                shorter.fillPolicy(),
                shorter.onUnavailable(),
                shorter.line(),
                shorter.retreat(),
                shorter.version(),
                shorter.rolledOut())
            .withVersionAfter(shorter.version()));

    sweep();

    assertThat(notFollowing(50)).containsExactly(misfit);
    assertThat(TierRollOut.isRolledOut(tier())).isFalse();
    assertThat(rollOut().walked()).isTrue();
    assertThat(rollOut().handedOut()).isEmpty();
    assertThat(rollOut().failed())
        .isEqualTo(
            Map.of(
                new TenantRange(Optional.of(id(814)), id(815)), 1L,
                new TenantRange(Optional.of(id(1711)), misfit), 1L));

    at.faults.none();
    sweep();

    assertThat(at.faults.calls()).hasSizeLessThan(30).doesNotContain("Tenants.replace");
    assertThat(rollOut().failed()).hasSize(2);

    at.tenants.writeByThisRelease(id(815));
    sweep();

    assertThat(notFollowing(50)).containsExactly(misfit);
    assertThat(rollOut().failed()).hasSize(1);

    Tenant stored = at.tenants.find(misfit).orElseThrow();
    assertThat(at.patch(misfit.value(), "{\"overrides\":{}}").document().toString())
        .contains("\"sessionTTL\":200");
    assertThat(at.tenants.find(misfit).orElseThrow().version()).isGreaterThan(stored.version());
    sweep();

    assertRolledOut(50);
  }

  @Test
  void many_failed_tenants_of_a_range_are_recorded_as_one_part() {
    start(100, 50);
    IntStream.range(0, 30).forEach(i -> at.tenants.writeByNewerRelease(id(2 * i)));
    change(50);

    sweep();

    assertThat(rollOut().failed())
        .isEqualTo(
            Map.of(
                new TenantRange(Optional.empty(), id(48)), 25L,
                new TenantRange(Optional.of(id(49)), id(50)), 1L,
                new TenantRange(Optional.of(id(51)), id(52)), 1L,
                new TenantRange(Optional.of(id(53)), id(54)), 1L,
                new TenantRange(Optional.of(id(55)), id(56)), 1L,
                new TenantRange(Optional.of(id(57)), id(58)), 1L));
    assertThat(notFollowing(50)).isEmpty();
  }

  @Test
  void a_few_ranges_at_a_time_are_handed_out() {
    start(40, 2);
    losesChunks = true;
    change(50);

    at.sweep();

    assertThat(rollOut().handedOut()).hasSize(6);
    losesChunks = false;
    at.clock.advance(A_MINUTE);
    sweep();
    assertRolledOut(50);
  }

  @Test
  void a_sweep_rolls_a_tier_of_one_range_out_alone() {
    start(50, 50);
    change(50);

    at.sweep();

    assertRolledOut(50);
    assertThat(at.pauses).hasSize(1);
  }

  /** Everything ends at one call, and stays dead until the faults end. */
  private Fault death() {
    return call -> {
      at.faults.each(() -> Optional.of(Faults.KILLED));
      throw new Faults.Killed();
    };
  }

  private void sweepAndDie() {
    try {
      at.sweep();
      deliver();
    } catch (Faults.Killed | Unavailable died) {
      // The next sweep continues.
    }
    at.chunks.clear();
    at.faults.none();
    at.clock.advance(A_MINUTE);
  }

  private int callsOfARollOut() {
    start(8, 3);
    change(50);
    at.sweep();
    assertRolledOut(50);
    return at.faults.calls().size();
  }

  @Test
  void a_crash_at_any_step_is_repaired_by_the_next_sweeps() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      for (Fault fault : List.of(death(), Faults.UNREACHABLE, Faults.ANSWER_LOST)) {
        start(8, 3);
        change(50);
        at.faults.plan(step, fault);
        sweepAndDie();
        IntStream.range(0, 3).forEach(i -> sweep());
        try {
          assertRolledOut(50);
        } catch (AssertionError different) {
          fail("disturbed at step " + step + " of " + calls, different);
        }
      }
    }
  }

  @Test
  void a_version_that_is_taken_back_after_a_crash_leaves_no_bucket_behind() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      start(8, 3);
      change(50);
      at.faults.plan(step, death());
      sweepAndDie();
      change(30);
      IntStream.range(0, 3).forEach(i -> sweep());
      try {
        assertRolledOut(30);
      } catch (AssertionError different) {
        fail("disturbed at step " + step + " of " + calls, different);
      }
    }
  }

  @Test
  void a_tenant_that_leaves_the_tier_after_a_crash_gets_its_buckets() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      start(8, 3);
      at.putTier("same", own(50));
      at.faults.none();
      change(50);
      at.faults.plan(step, death());
      sweepAndDie();
      IntStream.range(0, 8).forEach(i -> at.patch(id(i).value(), "{\"tier\":\"same\"}"));
      IntStream.range(0, 3).forEach(i -> sweep());
      try {
        assertRolledOut(50);
      } catch (AssertionError different) {
        fail("disturbed at step " + step + " of " + calls, different);
      }
    }
  }

  @Test
  void a_tenant_that_changes_at_any_step_keeps_its_change() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      for (int i = 0; i < 8; i += 3) {
        TenantId changed = id(i);
        start(8, 3);
        change(50);
        at.faults.plan(
            step,
            Faults.concurrently(
                () -> at.patch(changed.value(), "{\"overrides\":{\"tenantPerMinute\":77}}")));
        IntStream.range(0, 2).forEach(sweep -> sweep());
        assertThat(notFollowing(50)).as("changed at step %d", step).containsExactly(changed);
        assertThat(follows(at.tenants.find(changed).orElseThrow(), 77)).isTrue();
        assertThat(TierRollOut.isRolledOut(tier())).isTrue();
      }
    }
  }

  @Test
  void the_newer_of_two_versions_wins() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      start(8, 3);
      change(50);
      at.faults.plan(step, Faults.concurrently(() -> change(70)));
      IntStream.range(0, 3).forEach(i -> sweep());
      try {
        assertRolledOut(70);
      } catch (AssertionError different) {
        fail("changed at step " + step + " of " + calls, different);
      }
    }
  }

  @Test
  void a_late_worker_of_an_older_version_changes_nothing() {
    start(8, 3);
    change(50);
    losesChunks = true;
    Chunk late = new Chunk("rollOut:own:2", Optional.empty(), Optional.of(id(2)), 1);
    change(30);
    losesChunks = false;
    sweep();
    assertRolledOut(30);

    at.work(late);

    assertRolledOut(30);
  }

  @Test
  void a_worker_stops_when_its_version_is_replaced() {
    start(200, 200);
    change(50);
    at.tiers.moveOn(
        rollOut(),
        Optional.of(id(199)),
        true,
        Optional.of(new TenantRange(Optional.empty(), id(199))),
        Map.of(),
        at.clock.instant());
    at.faults.plan(100, Faults.concurrently(() -> change(70)));

    at.work(new Chunk("rollOut:own:2", Optional.empty(), Optional.of(id(199)), 1));

    // At most the 128 tenants of the batch that was under way were visited.
    assertThat(at.faults.calls()).hasSizeBetween(100, 128 * 3 + FOR_A_RANGE);
    sweep();
    assertRolledOut(70);
  }

  @Test
  void a_tenant_that_moves_into_the_tier_at_any_step_follows() {
    int calls = callsOfARollOut();
    for (int step = 1; step <= calls; step++) {
      start(8, 3);
      at.putTier("other", own(90));
      Tier other = at.tiers.find(new TierName("other")).orElseThrow();
      at.tenants.create(Tenant.onboarded(id(1711), other, Overrides.NONE));
      IntStream.range(0, 2).forEach(i -> sweep());
      at.faults.none();
      change(50);
      at.faults.plan(
          step, Faults.concurrently(() -> at.patch(id(1711).value(), "{\"tier\":\"own\"}")));
      IntStream.range(0, 3).forEach(i -> sweep());
      try {
        assertRolledOut(50);
      } catch (AssertionError different) {
        fail("moved at step " + step + " of " + calls, different);
      }
    }
  }

  @Test
  void an_unsettled_or_suspended_tenant_is_reconciled_as_a_whole() {
    start(3, 10);
    at.patch(id(0).value(), "{\"status\":\"SUSPENDED\"}");
    Tenant pending = at.tenants.find(id(1)).orElseThrow().withNextVersion();
    at.tenants.replace(pending);
    change(50);

    sweep();

    assertRolledOut(50);
    assertThat(at.tenants.find(id(0)).orElseThrow().status()).isEqualTo(TenantStatus.SUSPENDED);
    assertThat(at.tokens.has(new BucketId(id(1), Action.CONNECT))).isTrue();
  }

  @Test
  void the_schedule_of_a_hibernating_bucket_is_resumed() {
    start(1, 10);
    BucketId connect = new BucketId(id(0), Action.CONNECT);
    at.buckets.replace(at.buckets.find(connect).orElseThrow().hibernating(at.clock.instant()));
    change(50);

    sweep();

    assertRolledOut(50);
    assertThat(at.schedules.schedules().get(connect))
        .isNotNull()
        .satisfies(scheduled -> assertThat(scheduled.state()).isEqualTo(FillState.State.PRODUCED));
  }
}
