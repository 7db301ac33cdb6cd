package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender.Terms;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How many tokens were admitted beyond what a token bucket allows. In any window, a bucket admits
 * its capacity and what it gains in the window, rounded down. A decision is made between a call and
 * its answer; so for each call and each later answer, the decisions that lie wholly between the two
 * are compared with what the bucket allows between the two. A limiter that exceeds that cannot be
 * excused by the time that its messages take.
 */
final class OverAdmission {
  private OverAdmission() {}

  /**
   * The most tokens that were admitted in excess in any window; 0 if none.
   *
   * @param tokens the tokens of each decision
   */
  static long of(List<Decision> decisions, Terms terms, int tokens) {
    List<Decision> admitted =
        decisions.stream()
            .filter(Decision::admitted)
            .sorted(Comparator.comparingLong(Decision::answeredNanos))
            .toList();
    long excess = 0;
    for (Decision first : admitted) {
      long taken = 0;
      for (Decision last : admitted) {
        if (last.sentNanos() >= first.sentNanos()) {
          taken += tokens;
          long window = last.answeredNanos() - first.sentNanos();
          excess = Math.max(excess, taken - allowed(terms, window));
        }
      }
    }
    return excess;
  }

  /** The tokens that a bucket admits at most in a window. */
  static long allowed(Terms terms, long nanos) {
    return terms.capacity() + (long) (terms.perMinute() * nanos / TimeUnit.MINUTES.toNanos(1));
  }
}
