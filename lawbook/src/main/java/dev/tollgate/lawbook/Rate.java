package dev.tollgate.lawbook;

import java.math.BigInteger;
import java.time.Duration;

/**
 * The exact rate at which a bucket fills.
 *
 * @param tokens the tokens per period, at least 1
 * @param per the period, more than zero
 */
public record Rate(long tokens, Duration per) {
  /**
   * Checks the values.
   *
   * @throws IllegalArgumentException if one of them is not positive
   */
  public Rate {
    if (tokens < 1) {
      throw new IllegalArgumentException("tokens: " + tokens + " (expected: > 0)");
    }
    if (per.isNegative() || per.isZero()) {
      throw new IllegalArgumentException("per: " + per + " (expected: > 0)");
    }
  }

  /** A whole number of tokens a minute. */
  public static Rate perMinute(long tokens) {
    return new Rate(tokens, Duration.ofMinutes(1));
  }

  /** The fraction {@code tokens / divisor} of tokens a minute. */
  public static Rate perMinute(long tokens, long divisor) {
    return new Rate(tokens, Duration.ofMinutes(divisor));
  }

  /** The time in which {@code count} tokens accrue, rounded up to nanoseconds. */
  public Duration timeOf(long count) {
    BigInteger[] parts =
        nanos(per)
            .multiply(BigInteger.valueOf(count))
            .divideAndRemainder(BigInteger.valueOf(tokens));
    BigInteger nanos = parts[1].signum() == 0 ? parts[0] : parts[0].add(BigInteger.ONE);
    BigInteger[] split = nanos.divideAndRemainder(BigInteger.valueOf(1_000_000_000L));
    return Duration.ofSeconds(split[0].longValueExact(), split[1].longValueExact());
  }

  /** The tokens that accrue in {@code time}, rounded up. */
  public long tokensIn(Duration time) {
    BigInteger[] parts =
        nanos(time).multiply(BigInteger.valueOf(tokens)).divideAndRemainder(nanos(per));
    return parts[0].longValueExact() + (parts[1].signum() == 0 ? 0 : 1);
  }

  static BigInteger nanos(Duration time) {
    return BigInteger.valueOf(time.getSeconds())
        .multiply(BigInteger.valueOf(1_000_000_000L))
        .add(BigInteger.valueOf(time.getNano()));
  }

  /** The rate as a fraction, in tokens a minute. */
  @Override
  public String toString() {
    BigInteger dividend = BigInteger.valueOf(tokens).multiply(nanos(Duration.ofMinutes(1)));
    BigInteger common = dividend.gcd(nanos(per));
    BigInteger divisor = nanos(per).divide(common);
    String fraction =
        dividend.divide(common) + (divisor.equals(BigInteger.ONE) ? "" : "/" + divisor);
    return fraction + " a minute";
  }
}
