package dev.tollgate.core.bucket;

import static dev.tollgate.core.testing.Samples.withSpare;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.testing.limiter.TollgateLine;
import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Line.Maker;
import dev.tollgate.lawbook.LineLaws;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks Tollgate's line against the law book. */
final class LineLawsTest {
  private static final int HISTORIES = 50;

  @Test
  void lines_keep_every_law() {
    LawBook.Report report = LawBook.ofLine(TollgateLine.inMemory()).hold(HISTORIES);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  /** The other laws are about promises, which a switch breaks. */
  private static final List<Law<Maker>> LAWS_OF_SWITCHED_LINES =
      List.of(LineLaws.NEVER_MORE, LineLaws.EVERYBODY_IN);

  @Test
  void lines_that_are_switched_off_and_on_admit_never_more_than_the_bucket_and_everybody() {
    LawBook.Report report =
        LawBook.ofLine(TollgateLine.switched(buckets -> buckets))
            .only(LAWS_OF_SWITCHED_LINES)
            .hold(HISTORIES);
    LAWS_OF_SWITCHED_LINES.forEach(
        law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  @Test
  void lines_keep_every_law_despite_faults_and_clocks_that_differ() {
    LawBook.Report report = LawBook.ofLine(TollgateLine.faulty()).hold(HISTORIES / 4);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  @Test
  void lines_of_processes_that_keep_rows_keep_every_law() {
    LawBook.Report report = LawBook.ofLine(TollgateLine.keeping(false, false)).hold(HISTORIES);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  /** The other laws do not expect that tokens go to callers that take no place. */
  private static final List<Law<Maker>> LAWS_BESIDE_HANDS =
      List.of(LineLaws.NEVER_MORE, LineLaws.TOLD_IS_ADMITTED, LineLaws.EVERYBODY_IN);

  @ParameterizedTest(name = "with faults: {0}")
  @ValueSource(booleans = {false, true})
  void lines_keep_their_promises_beside_prefetched_tokens(boolean faulty) {
    LawBook.Report report =
        LawBook.ofLine(TollgateLine.keeping(true, faulty))
            .only(LAWS_BESIDE_HANDS)
            .hold(HISTORIES / 5);
    LAWS_BESIDE_HANDS.forEach(
        law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }

  /** Wraps buckets so that places are taken as {@code fault} changes the line. */
  private static Maker takingPlaces(UnaryOperator<Line> fault) {
    return TollgateLine.inMemory(
        buckets ->
            wrapped(
                (method, arguments) -> {
                  Object result = method.invoke(buckets, arguments);
                  return method.getName().equals("takePlace")
                      ? ((Optional<?>) result).map(line -> fault.apply((Line) line))
                      : result;
                }));
  }

  /** Wraps buckets so that every change of a line passes through {@code fault}. */
  private static Maker changingLines(UnaryOperator<Line> fault) {
    return TollgateLine.inMemory(
        buckets ->
            wrapped(
                (method, arguments) -> {
                  if (method.getName().equals("changeLine")) {
                    arguments[2] = fault.apply((Line) arguments[2]);
                  }
                  return method.invoke(buckets, arguments);
                }));
  }

  /** Wraps buckets so that a cleared line still waits for many places that nobody has. */
  private static Buckets clearingNothing(Buckets buckets) {
    return wrapped(
        (method, arguments) -> {
          if (method.getName().equals("clearLine")) {
            Line read = (Line) arguments[1];
            Line waiting = read.cleared((Instant) arguments[2]).withIssued(10_000);
            buckets.changeLine((BucketId) arguments[0], Optional.of(read), waiting);
            return WriteResult.DONE;
          }
          return method.invoke(buckets, arguments);
        });
  }

  private interface Call {
    Object of(Method method, Object[] arguments) throws ReflectiveOperationException;
  }

  private static Buckets wrapped(Call call) {
    return (Buckets)
        Proxy.newProxyInstance(
            Buckets.class.getClassLoader(),
            new Class<?>[] {Buckets.class},
            (proxy, method, arguments) -> call.of(method, arguments));
  }

  static List<Arguments> faults() {
    return List.of(
        Arguments.of(
            "gives each slot to two callers",
            takingPlaces(line -> line.withIssued(line.issued() - line.issued() % 2)),
            LineLaws.OWN_SLOTS),
        Arguments.of("has no line", TollgateLine.withoutLine(), LineLaws.TOLD_IS_ADMITTED),
        Arguments.of(
            "finds no spare tokens", changingLines(line -> withSpare(line, 0)), LineLaws.NO_WASTE),
        Arguments.of(
            "finds a spare token too many",
            changingLines(line -> withSpare(line, line.spare() + 1)),
            LineLaws.NO_OVERTAKING),
        Arguments.of(
            "promises spare tokens twice",
            changingLines(line -> withSpare(line, line.spare() + 1)),
            LineLaws.TOLD_IS_ADMITTED),
        Arguments.of(
            "waits for void places after it was switched on",
            TollgateLine.switched(LineLawsTest::clearingNothing),
            LineLaws.EVERYBODY_IN));
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
