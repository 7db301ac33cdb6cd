package dev.tollgate.core.tenant;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Refill;
import java.math.BigDecimal;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * What a {@link LimitSchedule} multiplies limits by: those that grow with the number of a tenant's
 * users. These are its rates and capacities, and the number of its connections. Limits of one
 * session, of one subject, and times stay.
 *
 * <p>A product is rounded down, is at least 1, and at most the largest value that a request may
 * set. So it always exists, whatever the limits become after the schedule was made.
 *
 * @param hundredths 1 to 10,000
 */
public record Factor(long hundredths) {
  /** Leaves limits as they are. */
  public static final Factor ONE = new Factor(100);

  private static final long MAX = 10_000;
  private static final String EXPECTED = "0.01 to 100 with at most two decimals, other than 1";

  private static final List<Limit> MULTIPLIED =
      List.of(Limit.TENANT_PER_MINUTE, Limit.TENANT_CONNECTIONS, Limit.MESSAGES_PER_MINUTE);

  /**
   * Checks the range.
   *
   * @throws InvalidValue if it is out of range
   */
  public Factor {
    InvalidValue.unless(
        hundredths >= 1 && hundredths <= MAX,
        "factor",
        BigDecimal.valueOf(hundredths, 2),
        EXPECTED);
  }

  /**
   * A factor of a schedule.
   *
   * @throws InvalidValue if it is 1, is out of range or has more than two decimals
   */
  public static Factor of(BigDecimal value) {
    boolean isValid =
        value.compareTo(BigDecimal.ZERO) > 0
            && value.compareTo(BigDecimal.valueOf(MAX, 2)) <= 0
            && value.compareTo(BigDecimal.ONE) != 0
            && value.stripTrailingZeros().scale() <= 2;
    InvalidValue.unless(isValid, "factor", value, EXPECTED);
    return new Factor(value.movePointRight(2).longValueExact());
  }

  /** The factor as a number, without trailing zeros. */
  public BigDecimal value() {
    BigDecimal value = BigDecimal.valueOf(hundredths, 2).stripTrailingZeros();
    return value.scale() < 0 ? value.setScale(0) : value;
  }

  /** These limits, multiplied. */
  Limits times(Limits limits) {
    if (equals(ONE)) {
      return limits;
    }
    Map<Limit, Long> products = new EnumMap<>(Limit.class);
    MULTIPLIED.forEach(
        limit -> products.put(limit, times(limits.get(limit), limit.maxInRequests())));
    return limits.with(products);
  }

  /** This rate, multiplied; a calendar stays. */
  Refill times(Refill refill) {
    return refill instanceof Rate rate
        ? new Rate(times(rate.microtokensPerMinute(), Rate.MAX.microtokensPerMinute()))
        : refill;
  }

  /** This capacity, multiplied. */
  long times(long capacity) {
    return times(capacity, BucketSpec.MAX_CAPACITY);
  }

  /** A row of an older release may have more than {@code max}; no factor above 1 lowers it. */
  private long times(long value, long max) {
    long most = hundredths < ONE.hundredths ? max : Math.max(max, value);
    return Math.min(Math.max(product(value), 1), most);
  }

  private long product(long value) {
    return value * hundredths / ONE.hundredths;
  }

  /**
   * Checks that no product is cut off.
   *
   * @throws InvalidValue if one is above the largest value that a request may set
   */
  void check(Limits limits, Map<Action, BucketTerms> buckets) {
    MULTIPLIED.forEach(limit -> check(limit.key(), limits.get(limit), limit.maxInRequests()));
    buckets.forEach(
        (action, terms) -> {
          String bucket = "buckets." + action;
          terms
              .capacity()
              .ifPresent(
                  capacity -> check(bucket + ".capacity", capacity, BucketSpec.MAX_CAPACITY));
          terms
              .refill()
              .filter(refill -> !(refill instanceof Calendar))
              .ifPresent(
                  rate ->
                      check(
                          bucket + ".ratePerMinute", ((Rate) rate).ceiling(), Rate.MAX_PER_MINUTE));
        });
  }

  private void check(String name, long value, long max) {
    long product = product(value);
    InvalidValue.unless(
        product <= max || hundredths < ONE.hundredths,
        "factor",
        this,
        "a smaller one: %s is %d, and %d is above the maximum %d"
            .formatted(name, value, product, max));
  }

  @Override
  public String toString() {
    return value().toPlainString();
  }
}
