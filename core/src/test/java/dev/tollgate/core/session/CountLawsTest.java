package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.testing.limiter.TollgateCounter;
import dev.tollgate.lawbook.Counter;
import dev.tollgate.lawbook.CounterLaws;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks Tollgate's count of connections against the law book. */
final class CountLawsTest {
  private static final int HISTORIES = 60;

  @ParameterizedTest
  @ValueSource(ints = {0, 20, 100})
  void counts_keep_every_law_despite_faults(int perMille) {
    LawBook.Report report = LawBook.ofCounter(TollgateCounter.inMemory(perMille)).hold(HISTORIES);
    assertThat(report.judged()).hasSize(4);
  }

  /** Writes a correction only if the count has not changed since the first reading. */
  private static Connections correctedIfStill(Connections connections) {
    Map<Object, Integer> firstReadings = new HashMap<>();
    AtomicInteger moves = new AtomicInteger();
    return (Connections)
        Proxy.newProxyInstance(
            Connections.class.getClassLoader(),
            new Class<?>[] {Connections.class},
            (proxy, method, arguments) -> {
              String name = method.getName();
              if (name.equals("correct")
                  && firstReadings.getOrDefault(arguments[1], -1) != moves.get()) {
                return WriteResult.CONFLICT;
              }
              Object answer = method.invoke(connections, arguments);
              if (name.equals("readCount")) {
                firstReadings.put(answer, moves.get());
              } else if (name.startsWith("count") && !name.equals("count")) {
                moves.incrementAndGet();
              }
              return answer;
            });
  }

  @Test
  void recount_that_fails_while_the_count_changes_breaks_a_law() {
    LawBook<Counter.Maker> planted =
        LawBook.ofCounter(TollgateCounter.inMemory(0, CountLawsTest::correctedIfStill));

    assertThatThrownBy(() -> planted.hold(500))
        .isInstanceOf(LawViolation.class)
        .hasMessageContaining(CounterLaws.HEALS_UNDER_TRAFFIC.name());
    planted.only(List.of(CounterLaws.HEALS)).hold(50);
  }
}
