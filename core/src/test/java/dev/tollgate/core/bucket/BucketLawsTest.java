package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.testing.limiter.PlantedFaults;
import dev.tollgate.core.testing.limiter.TollgateLimiter;
import dev.tollgate.core.testing.limiter.TollgateLimiter.Keeping;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Terms;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks Tollgate's buckets against the law book. */
final class BucketLawsTest {
  private static final int HISTORIES = 40;

  private static Function<Terms, FillPolicy> always(FillMode mode, long hibernateAfterMinutes) {
    return terms -> new FillPolicy(mode, hibernateAfterMinutes);
  }

  /** The capacity determines the fill mode, so that retunes change the mode as well. */
  private static FillPolicy byCapacity(Terms terms) {
    List<FillMode> modes = List.of(FillMode.values());
    int number = (int) (terms.capacity() % (2L * modes.size()));
    return new FillPolicy(modes.get(number / 2), number % 2 == 0 ? 0 : 10);
  }

  static List<Arguments> fillPolicies() {
    return List.of(
        Arguments.of("PRODUCER", always(FillMode.PRODUCER, 0)),
        Arguments.of("DIRECT", always(FillMode.DIRECT, 0)),
        Arguments.of("SHARED", always(FillMode.SHARED, 0)),
        Arguments.of("PRODUCER, hibernating", always(FillMode.PRODUCER, 5)),
        Arguments.of("DIRECT, hibernating", always(FillMode.DIRECT, 5)),
        Arguments.of("SHARED, hibernating", always(FillMode.SHARED, 5)),
        Arguments.of("any", (Function<Terms, FillPolicy>) BucketLawsTest::byCapacity));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillPolicies")
  void buckets_without_faults_keep_every_law(String name, Function<Terms, FillPolicy> fillPolicy) {
    LawBook.Report report =
        LawBook.ofLimiter(TollgateLimiter.inMemory(fillPolicy, 0)).hold(HISTORIES);
    System.out.println(name + ": " + report);
    LimiterLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillPolicies")
  void buckets_with_faults_at_the_ports_keep_every_law(
      String name, Function<Terms, FillPolicy> fillPolicy) {
    LawBook.Report report =
        LawBook.ofLimiter(TollgateLimiter.inMemory(fillPolicy, 100)).hold(HISTORIES);
    assertThat(report.judged(LimiterLaws.NEVER_MORE)).as(name).isEqualTo(report.histories());
    assertThat(report.judged(LimiterLaws.NEVER_LATE)).as(name).isEqualTo(report.histories());
  }

  /**
   * Fill policies without direct fills: a schedule that fires twice fills twice, which no count of
   * faults explains.
   */
  static List<Arguments> producedPolicies() {
    return fillPolicies().stream()
        .filter(policy -> policy.get()[0].toString().matches("(PRODUCER|SHARED).*"))
        .toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("producedPolicies")
  void processes_with_faults_admit_no_more(String name, Function<Terms, FillPolicy> policy) {
    for (Keeping keeping : List.of(Keeping.ROWS, Keeping.TOKENS)) {
      Limiter.Maker faulty = TollgateLimiter.inMemory(policy, 100, keeping, queue -> queue);
      LawBook.Report report =
          LawBook.ofLimiter(faulty).only(List.of(LimiterLaws.NEVER_MORE)).hold(2 * HISTORIES);
      assertThat(report.judged(LimiterLaws.NEVER_MORE)).as(name).isEqualTo(report.histories());
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillPolicies")
  void processes_that_keep_rows_keep_every_law(String name, Function<Terms, FillPolicy> policy) {
    Limiter.Maker keeping = TollgateLimiter.inMemory(policy, 0, Keeping.ROWS, queue -> queue);
    LawBook.Report report = LawBook.ofLimiter(keeping).hold(HISTORIES);
    LimiterLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  /** The other laws do not allow that prefetched tokens are lost when claims stop. */
  private static final List<Law<Limiter.Maker>> LAWS_OF_HANDS =
      List.of(LimiterLaws.NEVER_MORE, LimiterLaws.THROUGHPUT, LimiterLaws.NEIGHBOURS);

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillPolicies")
  void processes_with_prefetched_tokens_admit_no_more_and_get_the_rate(
      String name, Function<Terms, FillPolicy> policy) {
    Limiter.Maker keeping = TollgateLimiter.inMemory(policy, 0, Keeping.TOKENS, queue -> queue);
    LawBook.Report report = LawBook.ofLimiter(keeping).only(LAWS_OF_HANDS).hold(2 * HISTORIES);
    LAWS_OF_HANDS.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  static List<Arguments> planted() {
    return List.of(
        Arguments.of("admits twice as much", PlantedFaults.admittingTwiceAsMuch()),
        Arguments.of(
            "hands out tokens that are not spent", PlantedFaults.handingOutUnspentTokens()),
        Arguments.of("returns prefetched tokens twice", PlantedFaults.returningPrefetchedTwice()),
        Arguments.of(
            "admits when a fill cannot be requested",
            PlantedFaults.admittingWhenFillsCannotBeRequested()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("planted")
  void planted_fault_breaks_a_law(String fault, Limiter.Maker maker) {
    assertThatThrownBy(
            () -> LawBook.ofLimiter(maker).only(List.of(LimiterLaws.NEVER_MORE)).hold(HISTORIES))
        .as(fault)
        .isInstanceOfSatisfying(
            LawViolation.class,
            violation -> {
              System.out.println(violation.getMessage());
              assertThat(violation.law()).isSameAs(LimiterLaws.NEVER_MORE);
              assertThat(violation.shortest().steps()).hasSizeLessThanOrEqualTo(5);
            });
  }
}
