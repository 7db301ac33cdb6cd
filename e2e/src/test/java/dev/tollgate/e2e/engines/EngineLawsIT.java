package dev.tollgate.e2e.engines;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.testing.limiter.TollgateQuota;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Quota;
import dev.tollgate.lawbook.QuotaLaws;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Checks the laws of the law book for our buckets on the engines of the local cloud, through the
 * adapters that run on AWS: with faults at the ports, with faults of a plan at the requests, and
 * with {@code -Pnightly} without faults. Core's tests run thousands of histories in memory. This
 * test runs one history per case, or the number in {@code -Dlawbook.histories}.
 */
final class EngineLawsIT {
  /**
   * The seed of a history with a busy bucket whose capacity is ten minutes' tokens. Such a bucket
   * shows a fill that adds too many tokens.
   */
  private static final long SMOKE_SEED = 36;

  /**
   * The seed of a long history in which fills run at the same time. Such a history shows a fill
   * that sends tokens although another was faster.
   */
  private static final long RIVAL_FILLS_SEED = 146;

  /** The seed of a history of a week in Berlin in which the clocks change, with retunes. */
  private static final long QUOTA_SEED = 282;

  /** Further histories run with {@code -Pnightly}. */
  private static boolean isNightly() {
    return Integer.getInteger("tests.times", 1) > 1;
  }

  static List<FillMode> modesWithFaults() {
    return isNightly() ? List.of(FillMode.values()) : List.of(FillMode.PRODUCER);
  }

  static List<FillMode> modesUnderPlan() {
    return isNightly() ? List.of(FillMode.PRODUCER, FillMode.DIRECT) : List.of(FillMode.PRODUCER);
  }

  private static LawBook.Report check(LawBook<?> book, long seed) {
    boolean isConfigured =
        System.getProperty(LawBook.SEED) != null || System.getProperty(LawBook.HISTORIES) != null;
    return isConfigured ? book.hold(1) : book.replay(seed);
  }

  @Tag("nightly")
  @ParameterizedTest
  @EnumSource(
      value = FillMode.class,
      names = {"PRODUCER", "DIRECT"})
  void buckets_without_faults_keep_every_law(FillMode mode) {
    try (var factory = new EngineLimiter.Factory(mode, 0, FaultPlan.none())) {
      LawBook.Report report = check(LawBook.ofLimiter(factory), SMOKE_SEED);
      System.out.println(mode + ", no faults: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }

  @Tag("nightly")
  @ParameterizedTest
  @MethodSource("modesWithFaults")
  void buckets_with_faults_at_the_ports_keep_every_law(FillMode mode) {
    try (var factory = new EngineLimiter.Factory(mode, 100, FaultPlan.none())) {
      LawBook.Report report = check(LawBook.ofLimiter(factory), SMOKE_SEED);
      System.out.println(mode + ", faults at the ports: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }

  static List<FillMode> modesOfCalendars() {
    return isNightly() ? List.of(FillMode.PRODUCER, FillMode.SHARED) : List.of(FillMode.PRODUCER);
  }

  @Tag("nightly")
  @ParameterizedTest
  @MethodSource("modesOfCalendars")
  void calendar_buckets_with_faults_at_the_ports_keep_every_law(FillMode mode) {
    AtomicReference<Optional<BucketCloud>> cloud = new AtomicReference<>(Optional.empty());
    try {
      Quota.Maker quotas =
          TollgateQuota.over(
              setting -> {
                cloud.get().ifPresent(BucketCloud::close);
                cloud.set(Optional.of(BucketCloud.start(FaultPlan.none(), setting.clock())));
                return cloud.get().orElseThrow().ports();
              },
              mode,
              100);
      LawBook.Report report = check(LawBook.ofQuota(quotas), QUOTA_SEED);
      System.out.println(mode + ", a calendar, faults at the ports: " + report);
      QuotaLaws.ALL.forEach(
          law -> assertThat(report.judged(law)).as(law.name()).isEqualTo((int) report.histories()));
    } finally {
      cloud.get().ifPresent(BucketCloud::close);
    }
  }

  @Tag("nightly")
  @Test
  void concurrent_fills_with_faults_at_the_ports_admit_no_more_than_the_law_allows() {
    try (var factory = new EngineLimiter.Factory(FillMode.PRODUCER, 100, FaultPlan.none())) {
      LawBook.Report report =
          check(LawBook.ofLimiter(factory).only(List.of(LimiterLaws.NEVER_MORE)), RIVAL_FILLS_SEED);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }

  @ParameterizedTest
  @MethodSource("modesUnderPlan")
  @Tag("nightly")
  void a_bucket_under_a_fault_plan_keeps_every_law(FillMode mode) {
    Map<FaultKind, Double> odds = new EnumMap<>(FaultKind.class);
    odds.put(FaultKind.QUEUE_FALSELY_EMPTY, 0.05);
    odds.put(FaultKind.QUEUE_DELIVERS_TWICE, 0.02);
    odds.put(FaultKind.QUEUE_LEVEL_STALE, 0.2);
    odds.put(FaultKind.QUEUE_MESSAGE_LATE, 0.05);
    odds.put(FaultKind.QUEUE_ENTRY_FAILS, 0.02);
    odds.put(FaultKind.WRITE_UNANSWERED, 0.02);
    FaultPlan plan = new FaultPlan(1, odds, Map.of("sqs", 0.01, "dynamodb", 0.01), Map.of());
    try (var factory = new EngineLimiter.Factory(mode, 0, plan)) {
      LawBook.Report report =
          check(
              LawBook.ofLimiter(factory)
                  .only(
                      List.of(
                          LimiterLaws.NEVER_MORE,
                          LimiterLaws.CONSERVATION,
                          LimiterLaws.REFUSAL_IS_FREE,
                          LimiterLaws.RETRY_AFTER,
                          LimiterLaws.RETUNE_CONSERVES)),
              SMOKE_SEED);
      System.out.println(mode + ", fault plan: " + report);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).isEqualTo((int) report.histories());
    }
  }
}
