package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.tenant.Tiers;
import dev.tollgate.core.testing.Race;
import java.math.BigDecimal;
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
            new Action("report"),
            new BucketTerms(Optional.of(Rate.perMinute(1)), Optional.empty()),
            Action.MESSAGE,
            new BucketTerms(Optional.empty(), Optional.of(40_000L))),
        FillPolicy.DEFAULT,
        OnUnavailable.REFUSE,
        false,
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

  @Test
  void rolled_out_release_is_stored_and_not_listed_as_a_tier() {
    assertThat(tiers().rolledOutRelease()).isEmpty();

    tiers().markRolledOut(new Release("processor:1"));
    tiers().markRolledOut(new Release("processor:2"));

    assertThat(tiers().rolledOutRelease()).contains(new Release("processor:2"));
    assertThat(tiers().list().items()).hasSize(Tier.DEFAULTS.size());
  }
}
