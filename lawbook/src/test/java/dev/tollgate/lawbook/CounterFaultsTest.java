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

/** Checks that each planted fault of a counter breaks exactly the expected laws. */
final class CounterFaultsTest {
  private static final int HISTORIES = 300;

  /** The reference: keeps the names of what is open and checks them every minute. */
  private static class NamesCounter implements Counter {
    final Set<String> open = new HashSet<>();
    final Set<String> vanished = new HashSet<>();
    final Terms terms;
    private Instant next = Setting.START.plus(1, ChronoUnit.MINUTES);

    NamesCounter(Terms terms) {
      this.terms = terms;
    }

    @Override
    public Opening open(String id) {
      if (count() >= terms.max()) {
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
        check();
      }
    }

    void check() {
      open.removeAll(vanished);
    }
  }

  private static Counter.Maker maker(BiFunction<Setting, Counter.Terms, Counter> made) {
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

  private static final Counter.Maker NEVER_CHECKS =
      maker(
          (setting, terms) ->
              new NamesCounter(terms) {
                @Override
                void check() {}
              });

  /** Keeps a number besides the names, and decrements it at every reported close. */
  private static Counter.Maker decrementedAtEveryReport(boolean stopsAtZero) {
    return maker(
        (setting, terms) ->
            new NamesCounter(terms) {
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
                count = stopsAtZero ? Math.max(0, count - 1) : count - 1;
              }

              @Override
              void check() {
                super.check();
                count = open.size();
              }

              @Override
              public long count() {
                return count;
              }
            });
  }

  /**
   * Keeps a number besides the names, and corrects it a second after each check: by the difference
   * found, or only if the number has not changed since.
   */
  private static Counter.Maker recounted(boolean onlyIfUnchanged) {
    return maker(
        (setting, terms) ->
            new NamesCounter(terms) {
              private long count;
              private Optional<Instant> correctsAt = Optional.empty();
              private long changes;
              private long changesAtCheck;
              private long drift;

              @Override
              public Opening open(String id) {
                if (count >= terms.max()) {
                  return Opening.REFUSED;
                }
                count++;
                changes++;
                open.add(id);
                return Opening.OPEN;
              }

              @Override
              public void closed(String id) {
                if (open.remove(id)) {
                  count--;
                  changes++;
                }
              }

              @Override
              void check() {
                super.check();
                changesAtCheck = changes;
                drift = count - open.size();
                correctsAt = Optional.of(setting.now().plusSeconds(1));
              }

              @Override
              public Optional<Instant> nextTimer() {
                return correctsAt.or(super::nextTimer);
              }

              @Override
              public void passedTo(Instant now) {
                if (correctsAt.filter(at -> !at.isAfter(now)).isPresent()) {
                  correctsAt = Optional.empty();
                  count -= onlyIfUnchanged && changes != changesAtCheck ? 0 : drift;
                }
                super.passedTo(now);
              }

              @Override
              public long count() {
                return count;
              }
            });
  }

  static List<Arguments> faults() {
    return List.of(
        Arguments.of(
            "the reference", maker((setting, terms) -> new NamesCounter(terms)), List.of()),
        Arguments.of(
            "never checks",
            NEVER_CHECKS,
            List.of(CounterLaws.HEALS, CounterLaws.HEALS_UNDER_TRAFFIC)),
        Arguments.of("corrects by the difference", recounted(false), List.of()),
        Arguments.of(
            "corrects a count only if it has not changed",
            recounted(true),
            List.of(CounterLaws.HEALS_UNDER_TRAFFIC)),
        Arguments.of(
            "is decremented by every report",
            decrementedAtEveryReport(false),
            List.of(CounterLaws.NEVER_NEGATIVE, CounterLaws.NEVER_MORE_OPEN)),
        Arguments.of(
            "is decremented by every report, but not below zero",
            decrementedAtEveryReport(true),
            List.of(CounterLaws.NEVER_MORE_OPEN)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("faults")
  void counter_with_a_planted_fault_breaks_exactly_the_expected_laws(
      String name, Counter.Maker maker, List<Law<Counter.Maker>> laws) {
    assertThat(LawBook.ofCounter(maker).broken(HISTORIES)).as(name).containsExactlyElementsOf(laws);
  }
}
