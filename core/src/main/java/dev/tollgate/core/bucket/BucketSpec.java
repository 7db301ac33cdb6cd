package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;

/**
 * The refill, capacity and fill policy of a bucket, and whether callers may wait in its line.
 *
 * @param refill what adds tokens
 * @param capacity the most tokens it holds, 1 to 100,000: SQS keeps about 120,000 messages of a
 *     standard queue in flight (Amazon SQS Developer Guide, "Amazon SQS message quotas")
 * @param fillPolicy what fills it, and when that stops
 * @param line whether a refused caller takes a place in its {@link Line}
 */
public record BucketSpec(Refill refill, long capacity, FillPolicy fillPolicy, boolean line) {
  /** The smallest capacity of a bucket that keeps a line. */
  private static final long LEAST_FOR_LINE = 3;

  /** The shortest time in which a bucket that keeps a line fills. */
  private static final Duration SHORTEST_FOR_LINE = Duration.ofSeconds(30);

  /** The largest capacity. */
  public static final long MAX_CAPACITY = 100_000;

  /**
   * Checks the capacity and the fill policy.
   *
   * @throws InvalidValue if the capacity is out of range, or {@link FillMode#DIRECT} does not
   *     support the refill and capacity
   */
  public BucketSpec {
    InvalidValue.inRange("capacity", capacity, 1, MAX_CAPACITY);
    if (fillPolicy.mode() == FillMode.DIRECT) {
      InvalidValue.unless(
          refill instanceof Rate,
          "fillMode",
          fillPolicy.mode().name(),
          "PRODUCER or SHARED: a schedule alone cannot fill a bucket by a calendar");
      DirectFill.check(refill.average(capacity), capacity);
    }
  }

  /** A bucket with a line. */
  public BucketSpec(Refill refill, long capacity, FillPolicy fillPolicy) {
    this(refill, capacity, fillPolicy, true);
  }

  /** A bucket with the default fill policy and a line. */
  public BucketSpec(Refill refill, long capacity) {
    this(refill, capacity, FillPolicy.DEFAULT);
  }

  /** A bucket that holds one minute's tokens, rounded up, with the default fill policy. */
  public static BucketSpec ofRate(Rate rate) {
    return new BucketSpec(rate, rate.ceiling());
  }

  /** How fast it fills, or would fill if a calendar spread its tokens over the period. */
  public Rate rate() {
    return refill.average(capacity);
  }

  /**
   * The most tokens that one step of a fill sends. A fill can end between steps and not within one.
   */
  public long largestStep() {
    return Math.min(
        capacity,
        refill instanceof Rate ? RateLedger.largestStep(this) : CalendarLedger.stepSize(this));
  }

  /** Whether it ever hibernates. A calendar needs so few fills that it does not. */
  boolean mayHibernate() {
    return refill instanceof Rate && fillPolicy.mayHibernate();
  }

  /**
   * Whether refused callers take places. Besides the switch, this needs a bucket that can hold the
   * tokens of callers that come up to {@link Line#DUE_FOR} late while further tokens appear, fills
   * that count the tokens of those that stay away, which direct fills do not, and tokens that
   * appear one after another.
   */
  public boolean keepsLine() {
    return line
        && refill instanceof Rate
        && fillPolicy.mode() != FillMode.DIRECT
        && capacity >= LEAST_FOR_LINE
        && fillTime().compareTo(SHORTEST_FOR_LINE) >= 0;
  }

  private Duration fillTime() {
    return Line.span(rate(), capacity);
  }

  /** How far ahead of the next token a bucket with a line is filled. */
  Duration lineLead() {
    Duration quarter = Duration.ofMillis(fillTime().toMillis() / 4);
    return quarter.compareTo(Line.DUE_FOR) < 0 ? quarter : Line.DUE_FOR;
  }

  /** This bucket with a line, or without one. */
  public BucketSpec withLine(boolean on) {
    return new BucketSpec(refill, capacity, fillPolicy, on);
  }
}
