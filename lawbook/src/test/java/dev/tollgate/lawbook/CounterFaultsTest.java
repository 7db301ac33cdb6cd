package dev.tollgate.lawbook;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BiFunction;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Counters that break the laws they are planted to break, and no others. */
final class CounterFaultsTest {
  private static final int HISTORIES = 300;

  /** The reference: knows what is open by name, and looks after it every minute. */
  private static class ByName implements Counter {
    final Set<String> open = new HashSet<>();
    final Set<String> vanished = new HashSet<>();
    final Terms terms;
    private Instant next = Setting.START.plus(1, ChronoUnit.MINUTES);

    ByName(Terms terms) {
      this.terms = terms;
    }

    @Override
    public Opening open(String id) {
      if (count() >= terms.most()) {
        return Opening.REFUSED;
      }
      open.add(id);
      return Opening.OPEN;
    }

    @Override
    public void closed(String id) {
      open.remove(id);
    }

    @Override
    public void vanished(String id) {
      vanished.add(id);
    }

    @Override
    public long count() {
      return open.size();
    }

    @Override
    public Optional<Instant> nextTimer() {
      return Optional.of(next);
    }

    @Override
    public void passedTo(Instant now) {
      if (!now.isBefore(next)) {
        next = next.plus(1, ChronoUnit.MINUTES);
        look();
      }
    }

    void look() {
      open.removeAll(vanished);
    }
  }

  private static Counter.Maker counting(BiFunction<Setting, Counter.Terms, Counter> made) {
    return new Counter.Maker() {
      @Override
      public Counter make(Setting setting, Counter.Terms terms) {
        return made.apply(setting, terms);
      }

      @Override
      public Counter.Terms terms(Random random) {
        return new Counter.Terms(1L + random.nextInt(8), Duration.ofMinutes(2));
      }
    };
  }

  private static final Counter.Maker NEVER_LOOKS =
      counting(
          (setting, terms) ->
              new ByName(terms) {
                @Override
                void look() {}
              });

  /** A number beside the names, which each closing that is told lowers. */
  private static Counter.Maker loweredTwice(boolean stopsAtNone) {
    return counting(
        (setting, terms) ->
            new ByName(terms) {
              private long count;

              @Override
              public Opening open(String id) {
                Opening opening = super.open(id);
                count += opening == Opening.OPEN ? 1 : 0;
                return opening;
              }

              @Override
              public void closed(String id) {
                super.closed(id);
                count = stopsAtNone ? Math.max(0, count - 1) : count - 1;
              }

              @Override
              void look() {
                super.look();
                count = open.size();
              }

              @Override
              public long count() {
                return count;
              }
            });
  }

  static List<Arguments> faults() {
    return List.of(
        Arguments.of("the reference", counting((setting, terms) -> new ByName(terms)), List.of()),
        Arguments.of("never looks", NEVER_LOOKS, List.of(CounterLaws.HEALS)),
        Arguments.of(
            "is lowered by each telling",
            loweredTwice(false),
            List.of(CounterLaws.NEVER_NEGATIVE, CounterLaws.NEVER_MORE_OPEN)),
        Arguments.of(
            "is lowered by each telling, but not below none",
            loweredTwice(true),
            List.of(CounterLaws.NEVER_MORE_OPEN)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void a_counter_breaks_the_laws_it_is_planted_to_break(
      String name, Counter.Maker maker, List<Law<Counter.Maker>> laws) {
    assertThat(LawBook.ofCounter(maker).broken(HISTORIES)).as(name).containsExactlyElementsOf(laws);
  }
}
