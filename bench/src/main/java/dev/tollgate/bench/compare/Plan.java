package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender;
import dev.tollgate.bench.contenders.Contenders;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How much is measured.
 *
 * @param rounds the measurements of each contender in each case
 * @param time the longest time of a measurement
 * @param drain how long a bucket is drained
 * @param handshakes the handshakes of each kind
 */
record Plan(int rounds, Duration time, Duration drain, int handshakes) {
  static final Plan FULL = new Plan(3, Duration.ofSeconds(1), Duration.ofSeconds(3), 100);
  static final Plan QUICK = new Plan(1, Duration.ofMillis(300), Duration.ofMillis(1_500), 20);

  /** Decisions of each caller of one, and of each of many. */
  private static final int OF_ONE = 300;

  private static final int OF_MANY = 64;

  /** Tokens in the hand need a longer time of many decisions to show their rate. */
  private static final int PREFETCHED = 2;

  /** Of so many decisions one more is made, unmeasured, just before: buckets become hot. */
  private static final int LEAD_IN = 4;

  /** A claim of ten tokens takes more requests, and more tokens. */
  private static final int FEWER = 4;

  /** Decisions without a request. */
  private static final int IN_PROCESS = 5_000;

  /** Decisions of each caller before anything is measured. */
  private static final int WARM_UP = 30;

  /** Half as many tokens again as can be taken: a bucket that gets low is another case. */
  private static final double SPARE = 1.5;

  /** The bounds of a measurement. */
  Calls.Bounds bounds(Contender contender, Case of) {
    return switch (of.outcome()) {
      case ADMITTED ->
          new Calls.Bounds(contender.isInProcess() ? IN_PROCESS : each(contender.name(), of), time);
      case REFUSED -> new Calls.Bounds(IN_PROCESS, time.dividedBy(2));
      case DRAINED, HANDSHAKE -> new Calls.Bounds(Integer.MAX_VALUE, drain);
    };
  }

  /** The bounds of the calls just before a measurement, which are not measured. */
  Calls.Bounds leadIn(Contender contender, Case of) {
    Calls.Bounds bounds = bounds(contender, of);
    return new Calls.Bounds(bounds.decisions() / LEAD_IN, bounds.time().dividedBy(LEAD_IN));
  }

  /** The bounds of the warm-up. */
  Calls.Bounds warmUp(Contender contender) {
    return new Calls.Bounds(warmUp(contender.name()), time.multipliedBy(2));
  }

  private static int warmUp(String contender) {
    return contender.equals(Contenders.TEN) ? WARM_UP / FEWER : WARM_UP;
  }

  private static int each(String contender, Case of) {
    int decisions = of.callers() == 1 ? OF_ONE : OF_MANY;
    return switch (contender) {
      case Contenders.TEN -> decisions / FEWER;
      case Contenders.PREFETCHED -> decisions * PREFETCHED;
      default -> decisions;
    };
  }

  /**
   * The tokens that Tollgate's contenders need in a bucket of their own.
   *
   * @param alone whether the bucket serves the cases with one key, rather than the one with many
   */
  Map<String, Long> tokens(boolean alone) {
    Map<String, Long> tokens = new LinkedHashMap<>();
    for (String name : Contenders.TOLLGATE) {
      int size = name.equals(Contenders.TEN) ? Contenders.TOKENS : 1;
      long runs = (long) rounds * Delay.values().length;
      long decisions =
          Case.ADMITTED.stream()
              .filter(of -> (of.keys() == 1) == alone)
              .mapToLong(
                  of ->
                      (runs * each(name, of) * (LEAD_IN + 1) / LEAD_IN + warmUp(name))
                          * of.callers()
                          / of.keys())
              .sum();
      tokens.put(name, (long) (SPARE * decisions * size) + Contenders.TOKENS * 2L);
    }
    return tokens;
  }
}
