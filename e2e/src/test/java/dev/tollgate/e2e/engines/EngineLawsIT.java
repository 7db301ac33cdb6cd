package dev.tollgate.e2e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Our buckets are held to the law book on the engines of the local cloud, through the adapters that
 * run on AWS: in fair weather, in the storm that they stand in memory, and under a fault plan. Core
 * plays thousands of histories in memory; here is one in each weather at each build, and with
 * {@code -Dlawbook.histories} as many as one likes.
 */
final class EngineLawsIT {
  /** A busy bucket that holds what comes in ten minutes: there a fill too many shows. */
  private static final long TELLING = 36;

  private static LawBook.Report hold(LawBook<Limiter.Maker> book) {
    boolean asked =
        System.getProperty(LawBook.SEED) != null || System.getProperty(LawBook.HISTORIES) != null;
    return asked ? book.hold(1) : book.replay(TELLING);
  }

  @ParameterizedTest
  @EnumSource(value = FillMode.class, names = "SHARED", mode = EnumSource.Mode.EXCLUDE)
  void in_fair_weather_every_law_is_kept(FillMode mode) {
    try (var works = new EngineLimiter.Works(mode, 0, FaultPlan.none())) {
      LawBook.Report report = hold(LawBook.ofLimiter(works));
      System.out.println(mode + ", fair: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }

  @ParameterizedTest
  @EnumSource(FillMode.class)
  void in_a_storm_every_law_is_kept(FillMode mode) {
    try (var works = new EngineLimiter.Works(mode, 100, FaultPlan.none())) {
      LawBook.Report report = hold(LawBook.ofLimiter(works));
      System.out.println(mode + ", storm: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }

  @ParameterizedTest
  @EnumSource(value = FillMode.class, names = "SHARED", mode = EnumSource.Mode.EXCLUDE)
  void under_a_fault_plan_every_law_of_one_tenant_is_kept(FillMode mode) {
    Map<FaultKind, Double> odds = new EnumMap<>(FaultKind.class);
    odds.put(FaultKind.QUEUE_FALSELY_EMPTY, 0.05);
    odds.put(FaultKind.QUEUE_DELIVERS_TWICE, 0.02);
    odds.put(FaultKind.QUEUE_LEVEL_STALE, 0.2);
    odds.put(FaultKind.QUEUE_MESSAGE_LATE, 0.05);
    odds.put(FaultKind.QUEUE_ENTRY_FAILS, 0.02);
    odds.put(FaultKind.WRITE_UNANSWERED, 0.02);
    FaultPlan plan = new FaultPlan(1, odds, Map.of("sqs", 0.01, "dynamodb", 0.01), Map.of());
    try (var works = new EngineLimiter.Works(mode, 0, plan)) {
      LawBook.Report report =
          hold(
              LawBook.ofLimiter(works)
                  .only(
                      List.of(
                          LimiterLaws.NEVER_MORE,
                          LimiterLaws.CONSERVATION,
                          LimiterLaws.REFUSAL_IS_FREE,
                          LimiterLaws.RETRY_AFTER,
                          LimiterLaws.RETUNE_CONSERVES)));
      System.out.println(mode + ", fault plan: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }
}
