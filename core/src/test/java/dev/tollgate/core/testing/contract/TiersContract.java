package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.RollOut;
import dev.tollgate.core.tenant.TenantRange;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.Race;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The contract of {@link Tiers}. */
public abstract class TiersContract {
  private static final Tier BRONZE = Tier.DEFAULTS.get(0);
  private static final TierName PLATINUM = new TierName("platinum");

  /** The tiers under test; only the default tiers exist at the start of a test. */
  protected abstract Tiers tiers();

  private static Tier platinum(long version) {
    return new Tier(
        PLATINUM,
        Isolation.SILO,
        Limits.of(600, 60, 20, 5_000, 600, 20_000),
        Map.of(
            new Action("send-email"),
            new BucketTerms(Optional.of(Rate.perMinute(new BigDecimal("0.2"))), Optional.of(5L)),
            new Action("export"),
            new BucketTerms(
                Optional.of(
                    Calendar.of("WEEK", Optional.of("FRIDAY"), "18:00", "Asia/Tokyo", true)),
                Optional.of(1_000L)),
            new Action("report"),
            new BucketTerms(Optional.of(Rate.perMinute(1)), Optional.empty()),
            Action.MESSAGE,
            new BucketTerms(Optional.empty(), Optional.of(40_000L))),
        FillPolicy.DEFAULT,
        OnUnavailable.REFUSE,
        false,
        Optional.empty(),
        new LimitSchedules(
            List.of(
                LimitSchedule.of(
                    new BigDecimal("1.25"),
                    "2026-11-27T18:00",
                    "2026-11-28T02:00",
                    "Europe/Berlin"),
                LimitSchedule.of(
                        new BigDecimal("0.5"), "2026-11-25T18:00", "2026-11-26T02:30", "UTC")
                    .at(Instant.parse("2026-11-25T18:00:00Z")))),
        version,
        version - 1);
  }

  @Test
  void default_tiers_exist_at_first() {
    assertThat(tiers().list().items()).extracting(tier -> tier.name().value()).isSorted();
    assertThat(tiers().list().items()).containsExactlyInAnyOrderElementsOf(Tier.DEFAULTS);
    assertThat(tiers().find(BRONZE.name())).contains(BRONZE);
    assertThat(tiers().find(PLATINUM)).isEmpty();
  }

  @Test
  void written_tier_is_read_unchanged() {
    assertThat(tiers().put(platinum(1))).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(PLATINUM)).contains(platinum(1));
    assertThat(tiers().list().items()).contains(platinum(1)).hasSize(Tier.DEFAULTS.size() + 1);
  }

  @Test
  void put_of_the_next_version_succeeds() {
    assertThat(tiers().put(platinum(2))).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().put(platinum(1))).isEqualTo(WriteResult.DONE);
    assertThat(tiers().put(platinum(1))).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().put(platinum(3))).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().put(platinum(2))).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(PLATINUM)).contains(platinum(2));
  }

  @Test
  void one_of_many_concurrent_puts_of_a_version_succeeds() {
    List<WriteResult> answers = Race.of(8, i -> tiers().put(platinum(1)));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  @Test
  void written_default_tier_replaces_the_default() {
    Tier changed =
        new Tier(
                BRONZE.name(),
                Isolation.SILO,
                BRONZE.limits(),
                Map.of(),
                BRONZE.fillPolicy(),
                OnUnavailable.REFUSE,
                true,
                Optional.empty(),
                0,
                0)
            .withVersionAfter(0);

    assertThat(tiers().put(changed)).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(BRONZE.name())).contains(changed);
    assertThat(tiers().list().items()).contains(changed).hasSize(Tier.DEFAULTS.size());
  }

  @Test
  void removed_default_tier_stays_removed() {
    assertThat(tiers().remove(BRONZE.name(), 0)).isEqualTo(WriteResult.DONE);
    assertThat(tiers().remove(BRONZE.name(), 0)).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(BRONZE.name())).isEmpty();
    assertThat(tiers().list().items()).doesNotContain(BRONZE).hasSize(Tier.DEFAULTS.size() - 1);
  }

  @Test
  void changed_and_removed_default_tier_stays_removed() {
    tiers().put(BRONZE.withVersionAfter(0));

    assertThat(tiers().remove(BRONZE.name(), 0)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().remove(BRONZE.name(), 1)).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(BRONZE.name())).isEmpty();
  }

  @Test
  void removed_tier_can_be_put_again() {
    tiers().remove(BRONZE.name(), 0);
    Tier again = BRONZE.withVersionAfter(0);

    assertThat(tiers().put(again)).isEqualTo(WriteResult.DONE);

    assertThat(tiers().find(BRONZE.name())).contains(again);
    assertThat(tiers().list().items()).contains(again);
  }

  @Test
  void remove_requires_the_current_version_and_is_idempotent() {
    tiers().put(platinum(1));
    tiers().put(platinum(2));

    assertThat(tiers().remove(PLATINUM, 1)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().find(PLATINUM)).isPresent();
    assertThat(tiers().remove(PLATINUM, 2)).isEqualTo(WriteResult.DONE);
    assertThat(tiers().remove(PLATINUM, 2)).isEqualTo(WriteResult.DONE);
    assertThat(tiers().find(PLATINUM)).isEmpty();
  }

  @Test
  void only_the_current_version_is_marked_as_rolled_out() {
    tiers().put(platinum(1));
    tiers().markRolledOut(PLATINUM, 1);
    assertThat(tiers().find(PLATINUM).orElseThrow().rolledOut()).isEqualTo(1);

    tiers().put(platinum(1).withVersionAfter(1));
    tiers().markRolledOut(PLATINUM, 1);
    assertThat(tiers().find(PLATINUM).orElseThrow().rolledOut()).isZero();
  }

  @Test
  void marking_a_missing_tier_creates_none() {
    tiers().markRolledOut(PLATINUM, 1);
    tiers().markRolledOut(BRONZE.name(), 0);
    tiers().remove(BRONZE.name(), 0);
    tiers().markRolledOut(BRONZE.name(), 0);

    assertThat(tiers().find(PLATINUM)).isEmpty();
    assertThat(tiers().find(BRONZE.name())).isEmpty();
  }

  private static final Instant NOW = Instant.parse("2026-03-12T09:15:02.000000007Z");
  private static final TenantRange FIRST = TenantRange.parse("..b");
  private static final TenantRange SECOND = TenantRange.parse("b..d-1");

  private RollOut rollOut() {
    return tiers().rollOut(PLATINUM).orElseThrow();
  }

  private WriteResult handOut(RollOut read, TenantRange range, boolean last) {
    return tiers().moveOn(read, Optional.of(range.upTo()), last, Optional.of(range), Map.of(), NOW);
  }

  @Test
  void roll_out_of_a_new_version_has_not_begun() {
    assertThat(tiers().rollOut(PLATINUM)).isEmpty();
    assertThat(tiers().rollOut(BRONZE.name())).contains(RollOut.of(BRONZE));

    tiers().put(platinum(1));

    assertThat(rollOut()).isEqualTo(RollOut.of(platinum(1)));
    assertThat(rollOut().isFinished()).isFalse();
  }

  @Test
  void roll_out_is_finished_when_all_ranges_are_closed() {
    tiers().put(platinum(1));
    assertThat(handOut(rollOut(), FIRST, false)).isEqualTo(WriteResult.DONE);
    assertThat(handOut(rollOut(), SECOND, true)).isEqualTo(WriteResult.DONE);
    assertThat(rollOut())
        .isEqualTo(
            new RollOut(
                platinum(1),
                Optional.of(SECOND.upTo()),
                true,
                Map.of(FIRST, NOW, SECOND, NOW),
                Map.of()));

    assertThat(tiers().close(platinum(1), FIRST, Map.of())).isEqualTo(WriteResult.DONE);
    assertThat(rollOut().isFinished()).isFalse();
    assertThat(tiers().close(platinum(1), SECOND, Map.of())).isEqualTo(WriteResult.DONE);
    assertThat(rollOut().isFinished()).isTrue();

    tiers().markRolledOut(PLATINUM, 1);
    assertThat(rollOut().handedOut()).isEmpty();
    assertThat(rollOut().walked()).isFalse();
  }

  @Test
  void roll_out_without_tenants_is_finished_at_once() {
    tiers().put(platinum(1));

    tiers().moveOn(rollOut(), Optional.empty(), true, Optional.empty(), Map.of(), NOW);

    assertThat(rollOut().isFinished()).isTrue();
  }

  @Test
  void one_of_two_walks_moves_on() {
    tiers().put(platinum(1));
    RollOut begin = rollOut();
    assertThat(handOut(begin, FIRST, false)).isEqualTo(WriteResult.DONE);
    assertThat(handOut(begin, TenantRange.parse("..c"), false)).isEqualTo(WriteResult.CONFLICT);

    RollOut middle = rollOut();
    assertThat(handOut(middle, SECOND, true)).isEqualTo(WriteResult.DONE);
    assertThat(handOut(middle, TenantRange.parse("b..c"), false)).isEqualTo(WriteResult.CONFLICT);
    assertThat(handOut(rollOut(), TenantRange.parse("d-1..e"), false))
        .isEqualTo(WriteResult.CONFLICT);

    assertThat(rollOut().handedOut()).containsOnlyKeys(FIRST, SECOND);
  }

  @Test
  void one_of_many_concurrent_walks_moves_on() {
    tiers().put(platinum(1));
    RollOut begin = rollOut();

    assertThat(
            Collections.frequency(Race.of(8, i -> handOut(begin, FIRST, false)), WriteResult.DONE))
        .isEqualTo(1);
  }

  @Test
  void range_is_closed_once_and_its_failures_are_kept_until_they_are_handed_out_again() {
    TenantRange one = TenantRange.parse("b..c");
    tiers().put(platinum(1));
    handOut(rollOut(), FIRST, false);
    tiers()
        .moveOn(
            rollOut(), Optional.of(SECOND.upTo()), true, Optional.empty(), Map.of(one, 1L), NOW);

    assertThat(tiers().close(platinum(1), FIRST, Map.of(FIRST, 7L))).isEqualTo(WriteResult.DONE);
    assertThat(tiers().close(platinum(1), FIRST, Map.of())).isEqualTo(WriteResult.CONFLICT);
    assertThat(rollOut().failed()).isEqualTo(Map.of(FIRST, 7L, one, 1L));
    assertThat(rollOut().handedOut()).isEmpty();

    Instant later = NOW.plusSeconds(60);
    assertThat(tiers().handOutAgain(platinum(1), one, later)).isEqualTo(WriteResult.DONE);
    assertThat(tiers().handOutAgain(platinum(1), one, later.plusSeconds(1)))
        .isEqualTo(WriteResult.DONE);
    assertThat(rollOut().failed()).isEqualTo(Map.of(FIRST, 7L));
    assertThat(rollOut().handedOut()).isEqualTo(Map.of(one, later.plusSeconds(1)));

    tiers().close(platinum(1), one, Map.of());
    assertThat(tiers().handOutAgain(platinum(1), one, later)).isEqualTo(WriteResult.CONFLICT);
  }

  @Test
  void new_version_ends_the_roll_out_of_the_previous_one() {
    tiers().put(platinum(1));
    handOut(rollOut(), FIRST, false);
    RollOut old = rollOut();
    Tier next = platinum(1).withVersionAfter(1);
    tiers().put(next);

    assertThat(rollOut()).isEqualTo(RollOut.of(next));
    assertThat(handOut(old, SECOND, true)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().handOutAgain(platinum(1), FIRST, NOW)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().close(platinum(1), FIRST, Map.of())).isEqualTo(WriteResult.CONFLICT);
    assertThat(rollOut()).isEqualTo(RollOut.of(next));
  }

  @Test
  void nothing_is_handed_out_of_a_roll_out_that_has_not_begun() {
    tiers().put(platinum(1));

    assertThat(tiers().handOutAgain(platinum(1), FIRST, NOW)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tiers().close(platinum(1), FIRST, Map.of())).isEqualTo(WriteResult.CONFLICT);
    assertThat(rollOut()).isEqualTo(RollOut.of(platinum(1)));
  }

  @Test
  void rolled_out_release_is_stored_and_not_listed_as_a_tier() {
    assertThat(tiers().rolledOutRelease()).isEmpty();

    tiers().markRolledOut(new Release("processor:1"));
    tiers().markRolledOut(new Release("processor:2"));

    assertThat(tiers().rolledOutRelease()).contains(new Release("processor:2"));
    assertThat(tiers().list().items()).hasSize(Tier.DEFAULTS.size());
  }
}
