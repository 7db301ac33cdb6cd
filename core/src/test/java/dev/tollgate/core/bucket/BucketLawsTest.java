package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.TollgateLimiter;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Terms;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Our buckets are held to the law book. */
final class BucketLawsTest {
  private static final int HISTORIES = 100;

  private static Function<Terms, Filling> always(FillMode mode, long hibernateAfterMinutes) {
    return terms -> new Filling(mode, hibernateAfterMinutes);
  }

  /** The capacity says how a bucket is filled, so that retunes change that, too. */
  private static Filling byCapacity(Terms terms) {
    List<FillMode> modes = List.of(FillMode.values());
    int number = (int) (terms.capacity() % (2L * modes.size()));
    return new Filling(modes.get(number / 2), number % 2 == 0 ? 0 : 10);
  }

  static List<Arguments> fillings() {
    return List.of(
        Arguments.of("PRODUCER", always(FillMode.PRODUCER, 0)),
        Arguments.of("DIRECT", always(FillMode.DIRECT, 0)),
        Arguments.of("SHARED", always(FillMode.SHARED, 0)),
        Arguments.of("PRODUCER, hibernating", always(FillMode.PRODUCER, 5)),
        Arguments.of("DIRECT, hibernating", always(FillMode.DIRECT, 5)),
        Arguments.of("SHARED, hibernating", always(FillMode.SHARED, 5)),
        Arguments.of("any", (Function<Terms, Filling>) BucketLawsTest::byCapacity));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillings")
  void in_fair_weather_every_law_is_kept(String name, Function<Terms, Filling> filling) {
    LawBook.Report report = LawBook.ofLimiter(TollgateLimiter.inMemory(filling, 0)).hold(HISTORIES);
    System.out.println(name + ": " + report);
    LimiterLaws.ALL.stream()
        .filter(law -> law != LimiterLaws.ALL_OR_NONE)
        .forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("fillings")
  void in_a_storm_every_law_is_kept(String name, Function<Terms, Filling> filling) {
    LawBook.Report report =
        LawBook.ofLimiter(TollgateLimiter.inMemory(filling, 100)).hold(HISTORIES);
    assertThat(report.judged(LimiterLaws.NEVER_MORE)).as(name).isEqualTo(report.histories());
  }
}
