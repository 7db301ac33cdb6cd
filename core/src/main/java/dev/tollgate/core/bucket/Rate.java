package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;

/**
 * The rate at which a bucket fills, in millionths of a token a minute, so that a rate such as 0.2 a
 * minute is an integer.
 *
 * @param microtokensPerMinute from 1 (a token in almost two years) to 60,000,000,000 (60,000 tokens
 *     a minute)
 */
public record Rate(long microtokensPerMinute) implements Refill {
  private static final long MICRO = 1_000_000;

  private static final BigDecimal LEAST_PER_MINUTE = BigDecimal.valueOf(1, 6);

  /** The highest rate that one schedule and one function can deliver, in tokens a minute. */
  public static final long MAX_PER_MINUTE = 60_000;

  /** The highest rate. */
  public static final Rate MAX = perMinute(MAX_PER_MINUTE);

  /**
   * Checks the rate.
   *
   * @throws InvalidValue if it is out of range
   */
  public Rate {
    if (microtokensPerMinute < 1 || microtokensPerMinute > MAX_PER_MINUTE * MICRO) {
      throw invalid(BigDecimal.valueOf(microtokensPerMinute, 6));
    }
  }

  /** A whole number of tokens a minute, 1 to 60,000. */
  public static Rate perMinute(long tokens) {
    if (tokens < 1 || tokens > MAX_PER_MINUTE) {
      throw invalid(BigDecimal.valueOf(tokens));
    }
    return new Rate(tokens * MICRO);
  }

  /**
   * A number of tokens a minute with at most six decimals.
   *
   * @throws InvalidValue if it has more decimals or is out of range
   */
  public static Rate perMinute(BigDecimal tokens) {
    if (tokens.signum() <= 0
        || tokens.compareTo(BigDecimal.valueOf(MAX_PER_MINUTE)) > 0
        || tokens.compareTo(LEAST_PER_MINUTE) < 0) {
      throw invalid(tokens);
    }
    BigDecimal micro = tokens.movePointRight(6);
    if (micro.stripTrailingZeros().scale() > 0) {
      throw invalid(tokens);
    }
    return new Rate(micro.longValueExact());
  }

  private static InvalidValue invalid(BigDecimal tokens) {
    return new InvalidValue(
        "ratePerMinute",
        tokens.toString(),
        "0.000001 to " + MAX_PER_MINUTE + ", at most six decimals");
  }

  /** Tokens a minute, without trailing zeros. */
  public BigDecimal tokensPerMinute() {
    BigDecimal tokens = BigDecimal.valueOf(microtokensPerMinute, 6).stripTrailingZeros();
    return tokens.scale() < 0 ? tokens.setScale(0) : tokens;
  }

  /** The tokens of one minute, rounded up. */
  public long ceiling() {
    return (microtokensPerMinute + MICRO - 1) / MICRO;
  }

  @Override
  public Rate average(long capacity) {
    return this;
  }

  @Override
  public String toString() {
    return tokensPerMinute().toPlainString() + " a minute";
  }
}
