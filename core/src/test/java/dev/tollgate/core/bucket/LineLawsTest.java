package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.testing.limiter.TollgateLine;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Line.Maker;
import dev.tollgate.lawbook.LineLaws;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks Tollgate's line against the law book. */
final class LineLawsTest {
  private static final int HISTORIES = 100;

  @Test
  void lines_keep_every_law() {
    LawBook.Report report = LawBook.ofLine(TollgateLine.inMemory()).hold(HISTORIES);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  /** Wraps buckets so that one method gets its result from {@code fault}. */
  private static UnaryOperator<Buckets> planted(
      String method, UnaryOperator<Optional<Line>> fault) {
    return buckets ->
        (Buckets)
            Proxy.newProxyInstance(
                Buckets.class.getClassLoader(),
                new Class<?>[] {Buckets.class},
                (proxy, called, arguments) -> {
                  Object result = called.invoke(buckets, arguments);
                  return called.getName().equals(method)
                      ? fault.apply(((Optional<?>) result).map(Line.class::cast))
                      : result;
                });
  }

  static List<Arguments> faults() {
    return List.of(
        Arguments.of(
            "gives each slot to two callers",
            TollgateLine.inMemory(
                planted(
                    "takePlace",
                    line -> line.map(taken -> taken.withIssued(taken.issued() - taken.issued() % 2)))),
            LineLaws.OWN_SLOTS),
        Arguments.of(
            "has no line", TollgateLine.withoutLine(), LineLaws.TOLD_IS_ADMITTED),
        Arguments.of(
            "finds no spare tokens",
            TollgateLine.inMemory().getClass() == null ? null : TollgateLine.withoutSpare(),
            LineLaws.NO_WASTE),
        Arguments.of(
            "counts all tokens as spare", TollgateLine.allSpare(), LineLaws.TOLD_IS_ADMITTED));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void planted_fault_breaks_a_law(String fault, Maker maker, Law<Maker> law) {
    assertThatThrownBy(() -> LawBook.ofLine(maker).only(List.of(law)).hold(HISTORIES))
        .as(fault)
        .isInstanceOf(LawViolation.class)
        .hasMessageContaining(law.name());
  }
}
