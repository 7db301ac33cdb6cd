package dev.tollgate.cli.history;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.List;
import java.util.OptionalLong;

/**
 * How much of a limit was used in each minute, and which limit would fit.
 *
 * @param limit the limit's name
 * @param value the limit, above 0
 * @param minutes the number of minutes that count
 * @param p50 the median, by nearest rank as the other percentiles
 * @param p95 the 95th percentile
 * @param p99 the 99th percentile
 * @param p999 the 99.9th percentile
 * @param max the largest value
 * @param fits the 99.9th percentile and the margin, rounded up to two significant digits; at least
 *     1
 * @param refused connections that this limit refused; empty if the history does not have them
 */
record Usage(
    String limit,
    BigDecimal value,
    long minutes,
    long p50,
    long p95,
    long p99,
    long p999,
    long max,
    long fits,
    OptionalLong refused) {
  /** Fewer minutes say too little. */
  static final long MIN_MINUTES = 60;

  private static final BigDecimal HUNDRED = BigDecimal.valueOf(100);
  private static final BigDecimal TIGHT_PERCENT = BigDecimal.valueOf(80);
  private static final BigDecimal LARGE_TIMES = BigDecimal.valueOf(4);

  /** Whether a limit fits. */
  enum Verdict {
    /** It refused connections, or the 99.9th percentile is above 80 % of it. */
    TIGHT,
    /** Too few minutes to tell, and no refusals. */
    TOO_FEW_MINUTES,
    /** A limit below a quarter of it would fit. */
    LARGE,
    /** Neither. */
    OK
  }

  /**
   * Works out the usage.
   *
   * @param used what was used in some minutes; values below 0 count as 0
   * @param zeros the number of further minutes, in which nothing was used
   * @param margin the percentage to add to the 99.9th percentile
   * @throws IllegalArgumentException if there is no minute
   */
  static Usage of(
      String limit,
      BigDecimal value,
      List<Long> used,
      long zeros,
      OptionalLong refused,
      int margin) {
    long[] sorted = used.stream().mapToLong(each -> Math.max(0, each)).sorted().toArray();
    long p999 = percentile(sorted, zeros, 999);
    return new Usage(
        limit,
        value,
        zeros + sorted.length,
        percentile(sorted, zeros, 500),
        percentile(sorted, zeros, 950),
        percentile(sorted, zeros, 990),
        p999,
        percentile(sorted, zeros, 1000),
        fitting(p999, margin),
        refused);
  }

  /** The smallest value that at least so many thousandths of all values do not exceed. */
  private static long percentile(long[] sorted, long zeros, int perMille) {
    long all = zeros + sorted.length;
    if (all == 0) {
      throw new IllegalArgumentException("minutes: 0 (expected: at least 1)");
    }
    long rank = (all * perMille + 999) / 1000;
    return rank <= zeros ? 0 : sorted[(int) (rank - zeros - 1)];
  }

  private static long fitting(long p999, int margin) {
    BigInteger exact = BigInteger.valueOf(p999).multiply(BigInteger.valueOf(100L + margin));
    long whole = new BigDecimal(exact).divide(HUNDRED, 0, RoundingMode.CEILING).longValueExact();
    long unit = 1;
    while (whole / unit >= 100) {
      unit *= 10;
    }
    return Math.max(1, (whole + unit - 1) / unit * unit);
  }

  /** The 99.9th percentile in percent of the limit, rounded. */
  long sharePercent() {
    return BigDecimal.valueOf(p999)
        .multiply(HUNDRED)
        .divide(value, 0, RoundingMode.HALF_UP)
        .longValueExact();
  }

  /** Whether the limit fits. */
  Verdict verdict() {
    boolean hasRefused = refused.orElse(0) > 0;
    if (minutes < MIN_MINUTES && !hasRefused) {
      return Verdict.TOO_FEW_MINUTES;
    }
    BigDecimal used = BigDecimal.valueOf(p999).multiply(HUNDRED);
    if (hasRefused || used.compareTo(value.multiply(TIGHT_PERCENT)) > 0) {
      return Verdict.TIGHT;
    }
    return BigDecimal.valueOf(fits).multiply(LARGE_TIMES).compareTo(value) < 0
        ? Verdict.LARGE
        : Verdict.OK;
  }
}
