package dev.tollgate.local.cloudwatch;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Map;
import java.util.TreeMap;

/**
 * The samples of a metric in a period: their number, sum and maximum, and for percentiles how often
 * each value occurs. There, values have three significant digits, so that the number of different
 * values is bounded; whole numbers below 1,000 are exact. Not thread-safe.
 */
final class Samples {
  private static final MathContext DIGITS = new MathContext(3);
  private static final int EXACT = 1_000;

  private final Map<Double, Long> counts = new TreeMap<>();
  private long count;
  private double sum;
  private double maximum = Double.NEGATIVE_INFINITY;

  /**
   * Adds a sample.
   *
   * @param value a finite number
   * @param forPercentiles whether percentiles take it into account
   */
  void add(double value, boolean forPercentiles) {
    count++;
    sum += value;
    maximum = Math.max(maximum, value);
    if (forPercentiles) {
      counts.merge(rounded(value), 1L, Long::sum);
    }
  }

  private static double rounded(double value) {
    return Math.abs(value) < EXACT && value == Math.rint(value)
        ? value
        : BigDecimal.valueOf(value).round(DIGITS).doubleValue();
  }

  /** Adds all samples of another period. */
  void add(Samples others) {
    count += others.count;
    sum += others.sum;
    maximum = Math.max(maximum, others.maximum);
    others.counts.forEach((value, times) -> counts.merge(value, times, Long::sum));
  }

  /** How many different values are kept for percentiles. */
  int values() {
    return counts.size();
  }

  /** How many there are. */
  long count() {
    return count;
  }

  /** The sum of all values. */
  double sum() {
    return sum;
  }

  /** The largest value; of no samples, negative infinity. */
  double maximum() {
    return maximum;
  }

  /**
   * The least value that at least a part of the samples does not exceed. Without samples for
   * percentiles, the maximum.
   *
   * @param part above 0, at most 1
   */
  double percentile(double part) {
    long all = counts.values().stream().mapToLong(Long::longValue).sum();
    long rank = Math.max(1, (long) Math.ceil(part * all));
    long passed = 0;
    for (Map.Entry<Double, Long> each : counts.entrySet()) {
      passed += each.getValue();
      if (passed >= rank) {
        return each.getKey();
      }
    }
    return maximum;
  }
}
