package dev.tollgate.core.condition;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Retreat;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ConditionRulesTest {
  private static final TenantCondition ORDINARY = TenantCondition.ordinary(new TenantId("acme"));
  private static final Instant NOW = Instant.parse("2026-03-12T09:15:02Z");
  private static final Limits LIMITS = Limits.of(60, 5, 2, 100, 200, 60);

  private static Counts window(long admitted, Map<Refusal, Long> refused, long peak) {
    return new Counts(admitted, refused, peak, Map.of());
  }

  private static Counts refused(long admitted, long refused) {
    return window(admitted, refused == 0 ? Map.of() : Map.of(Refusal.TENANT_RATE, refused), 0);
  }

  private static TenantCondition next(TenantCondition before, Counts window) {
    return ConditionRules.next(before, LIMITS, window, OptionalLong.empty());
  }

  @ParameterizedTest
  @CsvSource({"0,9,false", "0,10,true", "190,10,true", "191,10,false", "1000,0,false"})
  void throttled_begins_with_ten_refusals_that_are_five_percent(
      long admitted, long refused, boolean isThrottled) {
    assertThat(next(ORDINARY, refused(admitted, refused)).throttled())
        .isEqualTo(
            isThrottled
                ? Optional.of(new TenantCondition.Throttling(admitted, refused))
                : Optional.empty());
  }

  @Test
  void throttled_lasts_until_no_connection_is_refused() {
    TenantCondition throttled = next(ORDINARY, refused(10, 40));

    assertThat(next(throttled, refused(20, 1)).throttled()).isEqualTo(throttled.throttled());
    assertThat(next(throttled, refused(20, 0))).isEqualTo(ORDINARY);
  }

  @Test
  void refusals_that_no_limit_makes_do_not_count() {
    assertThat(next(ORDINARY, window(0, Map.of(Refusal.SUSPENDED, 1_000L), 0))).isEqualTo(ORDINARY);
  }

  @Test
  void near_begins_at_eighty_percent_and_ends_below_seventy() {
    assertThat(next(ORDINARY, window(1, Map.of(), 79)).near()).isEmpty();
    TenantCondition near = next(ORDINARY, window(1, Map.of(), 80));
    assertThat(near.near()).isEqualTo(Map.of(Limit.TENANT_CONNECTIONS, 80L));

    assertThat(next(near, window(1, Map.of(), 99))).isEqualTo(near);
    assertThat(next(near, window(1, Map.of(), 70))).isEqualTo(near);
    assertThat(next(near, window(1, Map.of(), 69))).isEqualTo(ORDINARY);
  }

  @Test
  void rates_are_compared_with_the_average_of_a_minute() {
    assertThat(next(ORDINARY, refused(235, 0)).near()).isEmpty();
    assertThat(next(ORDINARY, refused(240, 0)).near())
        .isEqualTo(Map.of(Limit.TENANT_PER_MINUTE, 48L));
  }

  /** A connection that closes raises no peak, so a quiet window says nothing. */
  @Test
  void near_a_number_of_connections_lasts_until_the_number_is_known() {
    TenantCondition near = next(ORDINARY, window(1, Map.of(), 90));

    assertThat(next(near, Counts.NONE)).isEqualTo(near);
    assertThat(ConditionRules.next(near, LIMITS, Counts.NONE, OptionalLong.of(70))).isEqualTo(near);
    assertThat(ConditionRules.next(near, LIMITS, Counts.NONE, OptionalLong.of(69)))
        .isEqualTo(ORDINARY);
  }

  @Test
  void limit_that_is_off_is_not_watched() {
    Limits off = LIMITS.with(Map.of(), Map.of(Limit.TENANT_CONNECTIONS, LimitMode.OFF));

    assertThat(ConditionRules.next(ORDINARY, off, window(1, Map.of(), 500), OptionalLong.empty()))
        .isEqualTo(ORDINARY);
  }

  private static Tier armed() {
    Tier bronze = Tier.DEFAULTS.get(0);
    return new Tier(
        bronze.name(),
        bronze.isolation(),
        LIMITS,
        Map.of(),
        bronze.fillPolicy(),
        bronze.onUnavailable(),
        true,
        Optional.of(new Retreat(5, Optional.empty())),
        1,
        1);
  }

  private static ConditionRules.Share share(long admitted, long refused) {
    return new ConditionRules.Share(refused, admitted + refused);
  }

  private static boolean retreats(ConditionRules.Share... tenants) {
    return ConditionRules.mustRetreat(armed(), List.of(tenants));
  }

  @ParameterizedTest
  @CsvSource({"190,10,false", "188,12,true", "0,200,true", "0,198,false"})
  void tier_retreats_above_its_share_of_at_least_a_hundred_connections(
      long admitted, long refused, boolean isAbove) {
    ConditionRules.Share half = share(admitted / 2, refused / 2);
    ConditionRules.Share rest = share(admitted - admitted / 2, refused - refused / 2);

    assertThat(retreats(half, rest)).isEqualTo(isAbove);
    assertThat(ConditionRules.mustRetreat(Tier.DEFAULTS.get(0), List.of(half, rest))).isFalse();
  }

  @Test
  void single_tenant_lifts_no_limits() {
    assertThat(retreats(share(0, 10_000))).isFalse();
    assertThat(retreats(share(0, 10_000), share(0, 99))).isFalse();
    assertThat(retreats(share(0, 10_000), share(95, 5))).isFalse();
    assertThat(retreats(share(0, 10_000), share(94, 6))).isTrue();
  }

  @Test
  void limits_that_a_tenant_overrides_and_failing_services_do_not_count() {
    Counts window =
        window(
            5,
            Map.of(
                Refusal.TENANT_RATE, 1L,
                Refusal.SESSION_RATE, 2L,
                Refusal.TENANT_CONNECTIONS, 4L,
                Refusal.UNDECIDED, 8L,
                Refusal.LEASE_ENDED, 16L),
            7);
    Tenant plain = Tenant.onboarded(new TenantId("acme"), armed(), Overrides.NONE);
    Tenant own =
        Tenant.onboarded(
            new TenantId("acme"),
            armed(),
            new Overrides(
                Map.of(Limit.SESSION_PER_MINUTE, 9L),
                Map.of(Limit.TENANT_CONNECTIONS, LimitMode.ENFORCE),
                Optional.empty()));

    assertThat(ConditionRules.Share.of(plain, window)).isEqualTo(share(5, 7));
    assertThat(ConditionRules.Share.of(own, window)).isEqualTo(share(5, 1));
  }

  @Test
  void tier_retreats_once() {
    Tier retreated = armed().retreatedAt(NOW);

    assertThat(retreated.limits().modes())
        .containsOnlyKeys(
            Limit.TENANT_PER_MINUTE,
            Limit.SESSION_PER_MINUTE,
            Limit.CONNECTIONS_PER_SESSION,
            Limit.TENANT_CONNECTIONS,
            Limit.MESSAGES_PER_MINUTE)
        .containsValue(LimitMode.OBSERVE);
    assertThat(retreated.retreat()).contains(new Retreat(5, Optional.of(NOW)));
    assertThat(ConditionRules.mustRetreat(retreated, List.of(share(0, 1_000), share(0, 1_000))))
        .isFalse();
  }
}
