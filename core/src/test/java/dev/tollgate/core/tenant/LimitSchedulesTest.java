package dev.tollgate.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The limits of a tenant are a function of its tier, its overrides and the time. */
class LimitSchedulesTest {
  private static final Instant BEFORE = Instant.parse("2026-11-27T16:59:59Z");
  private static final Instant OPENS = Instant.parse("2026-11-27T17:00:00Z");
  private static final Instant CLOSES = Instant.parse("2026-11-28T01:00:00Z");
  private static final Calendar DAILY =
      Calendar.of("DAY", Optional.empty(), "00:00", "Europe/Berlin", false);

  private static LimitSchedule schedule(String factor, String from, String to, String zone) {
    return LimitSchedule.of(new BigDecimal(factor), from, to, zone);
  }

  private static LimitSchedule berlin(String factor) {
    return schedule(factor, "2026-11-27T18:00", "2026-11-28T02:00", "Europe/Berlin");
  }

  private static LimitSchedules of(String factor) {
    return LimitSchedules.NONE.with(berlin(factor));
  }

  private static Tier tier(FillPolicy filling, LimitSchedules schedules) {
    return new Tier(
        new TierName("own"),
        Isolation.POOL,
        Limits.of(10, 5, 2, 7, 200, 60),
        Map.of(
            new Action("send-email"),
            new BucketTerms(Optional.of(Rate.perMinute(new BigDecimal("0.2"))), Optional.of(5L)),
            new Action("export"),
            new BucketTerms(
                Optional.of(filling.mode() == FillMode.DIRECT ? Rate.perMinute(2) : DAILY),
                Optional.of(filling.mode() == FillMode.DIRECT ? 4L : 1_000L))),
        filling,
        OnUnavailable.ADMIT,
        true,
        Optional.empty(),
        schedules,
        1,
        1);
  }

  private static Tenant tenantOf(Tier tier, Overrides overrides) {
    return Tenant.onboarded(new TenantId("acme"), tier, overrides);
  }

  private static Tenant at(Instant now, LimitSchedules ofTier, LimitSchedules own) {
    return tenantOf(tier(FillPolicy.DEFAULT, ofTier.at(now)), Overrides.NONE.with(own.at(now)));
  }

  private static BucketSpec bucket(Tenant tenant, String action) {
    return Optional.ofNullable(tenant.buckets().get(new Action(action))).orElseThrow();
  }

  @Test
  void window_multiplies_rates_capacities_and_connections_from_its_first_instant_to_its_last() {
    Tenant open = at(OPENS, of("2.5"), LimitSchedules.NONE);

    assertThat(open.limits()).isEqualTo(Limits.of(25, 5, 2, 17, 200, 150));
    assertThat(bucket(open, "connect").refill()).isEqualTo(Rate.perMinute(25));
    assertThat(bucket(open, "connect").capacity()).isEqualTo(25);
    assertThat(bucket(open, "send-email").refill())
        .isEqualTo(Rate.perMinute(new BigDecimal("0.5")));
    assertThat(bucket(open, "send-email").capacity()).isEqualTo(12);
    assertThat(bucket(open, "export").refill()).isEqualTo(DAILY);
    assertThat(bucket(open, "export").capacity()).isEqualTo(2_500);
    assertThat(at(CLOSES.minusNanos(1), of("2.5"), LimitSchedules.NONE)).isEqualTo(open);
    Tenant plain = at(BEFORE, LimitSchedules.NONE, LimitSchedules.NONE);
    assertThat(at(BEFORE, of("2.5"), LimitSchedules.NONE)).isEqualTo(plain);
    assertThat(at(CLOSES, of("2.5"), LimitSchedules.NONE)).isEqualTo(plain);
  }

  @Test
  void window_of_a_tenant_replaces_that_of_its_tier() {
    assertThat(at(OPENS, of("2"), of("3")).limits().get(Limit.TENANT_PER_MINUTE)).isEqualTo(30);
    LimitSchedules later =
        LimitSchedules.NONE.with(schedule("3", "2026-11-27T20:00", "2026-11-27T21:00", "UTC"));
    assertThat(at(OPENS, of("2"), later).limits().get(Limit.TENANT_PER_MINUTE)).isEqualTo(20);
  }

  @Test
  void products_stay_within_the_values_of_requests() {
    Limits least = at(OPENS, of("0.01"), LimitSchedules.NONE).limits();
    assertThat(least.get(Limit.TENANT_PER_MINUTE)).isEqualTo(1);
    assertThat(least.get(Limit.TENANT_CONNECTIONS)).isEqualTo(1);
    Limits large = Limits.of(20_000, 5, 2, 900_000, 200, 60_000);
    assertThat(new Factor(200).times(large))
        .isEqualTo(Limits.of(30_000, 5, 2, 1_000_000, 200, 60_000));
    Limits ofOldRelease = Limits.of(50_000, 5, 2, 7, 200, 60);
    assertThat(new Factor(200).times(ofOldRelease).get(Limit.TENANT_PER_MINUTE)).isEqualTo(50_000);
    assertThat(new Factor(50).times(ofOldRelease).get(Limit.TENANT_PER_MINUTE)).isEqualTo(25_000);
  }

  @Test
  void schedule_that_would_exceed_a_limit_is_refused_with_the_reason() {
    Overrides overrides = Overrides.of(Map.of(Limit.TENANT_PER_MINUTE, 20_000L)).with(of("2"));
    Tier tier = tier(FillPolicy.DEFAULT, LimitSchedules.NONE);

    assertThatThrownBy(() -> tier.checkSchedules(overrides))
        .isInstanceOf(InvalidValue.class)
        .hasMessage(
            "factor: 2 (expected: a smaller one: tenantPerMinute is 20000, and 40000 is above the"
                + " maximum 30000)");
    tier.checkSchedules(overrides.with(of("1.5")));
    assertThatThrownBy(
            () ->
                tier(FillPolicy.DEFAULT, of("100"))
                    .with(of("99"))
                    .checkSchedules(Overrides.of(Map.of(Limit.MESSAGES_PER_MINUTE, 700L))))
        .hasMessageContaining("messagesPerMinute is 700, and 69300");
    Tier whole =
        new Tier(
            tier.name(),
            tier.isolation(),
            tier.limits(),
            Map.of(new Action("export"), new BucketTerms(Optional.of(DAILY), Optional.of(60_000L))),
            tier.fillPolicy(),
            tier.onUnavailable(),
            true,
            Optional.empty(),
            of("2"),
            1,
            1);
    assertThatThrownBy(() -> whole.checkSchedules(Overrides.NONE))
        .hasMessageContaining("buckets.export.capacity is 60000, and 120000");
  }

  @Test
  void fill_mode_must_support_the_buckets_in_every_window() {
    FillPolicy direct = new FillPolicy(FillMode.DIRECT, 0);
    Tier tier =
        new Tier(
            new TierName("own"),
            Isolation.POOL,
            Limits.of(6, 5, 2, 7, 200, 6),
            Map.of(),
            direct,
            OnUnavailable.ADMIT,
            false,
            Optional.empty(),
            1,
            1);

    assertThatThrownBy(() -> tier.with(of("2"))).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> tier.bucketsUnder(Overrides.NONE.with(of("2"))))
        .isInstanceOf(InvalidValue.class);
    assertThat(tier.with(of("0.5")).schedules().all()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "0.001", "100.01", "1", "1.00", "2.555"})
  void factor_is_checked(String factor) {
    assertThatThrownBy(() -> berlin(factor))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("factor: ");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-27T18:00, 2026-11-27T18:00, UTC, to: ",
    "2026-11-27T18:00, 2026-11-27T17:59, UTC, to: ",
    "2026-11-31T18:00, 2026-12-27T17:59, UTC, from: ",
    "2026-11-27T18:00:30, 2026-12-27T17:59, UTC, from: ",
    "27 November, 2026-12-27T17:59, UTC, from: ",
    "2026-11-27T18:00, 2026-12-27, UTC, to: ",
    "2026-11-27T18:00, 2026-12-27T17:59, Europe/Atlantis, zone: ",
    "2026-11-27T18:00, 2026-12-27T17:59, +02:00, zone: ",
    // Both are 01:30 UTC: the first does not exist.
    "2026-03-29T02:30, 2026-03-29T03:30, Europe/Berlin, to: "
  })
  void times_and_zone_are_checked(String from, String to, String zone, String message) {
    assertThatThrownBy(() -> LimitSchedules.NONE.with(schedule("2", from, to, zone)))
        .isInstanceOf(InvalidValue.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void skipped_time_counts_as_the_same_time_after_the_change_and_a_repeated_one_as_the_earlier() {
    assertThat(schedule("2", "2026-03-29T02:30", "2026-03-30T00:00", "Europe/Berlin").opensAt())
        .isEqualTo("2026-03-29T01:30:00Z");
    assertThat(schedule("2", "2026-10-25T00:00", "2026-10-25T02:30", "Europe/Berlin").closesAt())
        .isEqualTo("2026-10-25T00:30:00Z");
  }

  @Test
  void windows_must_not_overlap_but_may_touch() {
    LimitSchedule touching = schedule("3", "2026-11-28T01:00", "2026-11-28T05:00", "UTC");
    LimitSchedules both = of("2").with(touching);
    assertThat(both.at(CLOSES).factor()).contains(new Factor(300));
    assertThat(both.at(CLOSES).all()).hasSize(1);

    assertThatThrownBy(
            () ->
                both.with(
                        schedule("4", "2026-11-27T19:00", "2026-11-27T20:00", "Asia/Tokyo")
                            .at(BEFORE))
                    .with(schedule("4", "2026-11-28T04:59", "2026-11-28T06:00", "UTC")))
        .hasMessageContaining("a window that overlaps no other");
  }

  /** As windows in two zones that touched may be, once one of the zones has changed its rules. */
  @Test
  void stored_windows_that_overlap_or_are_empty_are_readable_and_the_earlier_one_has_precedence() {
    LimitSchedule later = schedule("3", "2026-11-27T20:00", "2026-11-28T05:00", "UTC");
    LimitSchedule empty = schedule("4", "2026-03-29T02:30", "2026-03-29T03:30", "Europe/Berlin");
    LimitSchedules stored = new LimitSchedules(List.of(later, berlin("2"), empty));

    assertThat(stored.at(Instant.parse("2026-11-27T21:00:00Z")).factor()).contains(new Factor(200));
    assertThat(stored.at(CLOSES).factor()).contains(new Factor(300));
    assertThat(stored.at(empty.opensAt()).all()).hasSize(2);
    assertThat(stored.without(later.id()).all()).hasSize(2);
  }

  @Test
  void schedule_may_be_added_twice() {
    LimitSchedules open = of("2").at(OPENS);

    assertThat(open.with(berlin("2"))).isEqualTo(open);
    assertThatThrownBy(() -> open.with(berlin("3"))).isInstanceOf(InvalidValue.class);
  }

  @Test
  void schedules_are_few() {
    LimitSchedules full =
        new LimitSchedules(
            IntStream.range(0, LimitSchedules.MAX)
                .mapToObj(
                    day ->
                        schedule(
                            "2",
                            "2027-01-%02dT10:00".formatted(day + 1),
                            "2027-01-%02dT11:00".formatted(day + 1),
                            "UTC"))
                .toList());

    assertThatThrownBy(() -> full.with(berlin("2"))).hasMessageContaining("at most 20");
  }

  @Test
  void changes_are_due_when_time_changes_the_schedules() {
    LimitSchedules waiting = of("2");
    assertThat(waiting.isDue(BEFORE)).isFalse();
    assertThat(waiting.nextChange()).contains(OPENS);
    assertThat(waiting.isDue(OPENS)).isTrue();
    LimitSchedules open = waiting.at(OPENS);
    assertThat(open.isDue(CLOSES.minusNanos(1))).isFalse();
    assertThat(open.nextChange()).contains(CLOSES);
    assertThat(open.isDue(CLOSES)).isTrue();
    assertThat(waiting.at(CLOSES)).isEqualTo(LimitSchedules.NONE);
  }
}
