package dev.tollgate.bench.scale;

import java.util.Arrays;

/** How much a service takes in each second, and how much was asked of it. */
final class Quota {
  private final String name;
  private final long perSecond;
  private final String source;
  private int[] asked = new int[4_096];
  private int[] taken = new int[4_096];
  private long refused;

  /**
   * A quota.
   *
   * @param perSecond 0 if AWS publishes no quota
   * @param source where the number comes from
   */
  Quota(String name, long perSecond, String source) {
    this.name = name;
    this.perSecond = perSecond;
    this.source = source;
  }

  String name() {
    return name;
  }

  long perSecond() {
    return perSecond;
  }

  String source() {
    return source;
  }

  /** Whether the second of {@code micros} has room for {@code units}, which it then takes. */
  boolean take(long micros, int units) {
    int second = (int) (micros / SimulatedTime.SECOND);
    if (second >= asked.length) {
      asked = Arrays.copyOf(asked, 2 * second);
      taken = Arrays.copyOf(taken, 2 * second);
    }
    asked[second] += units;
    if (perSecond > 0 && taken[second] + units > perSecond) {
      refused++;
      return false;
    }
    taken[second] += units;
    return true;
  }

  /** The most that was asked in a second. */
  long peak() {
    return Arrays.stream(asked).max().orElse(0);
  }

  /** The requests that were refused. */
  long refused() {
    return refused;
  }
}
