package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;

/**
 * Fills a bucket by its schedule alone, without a function: the schedule sends a fixed batch of
 * tokens once a minute.
 *
 * <h2>What limits the level</h2>
 *
 * <p>Nothing reads the level, so tokens must expire: the queue keeps each for {@code capacity ÷
 * rate}. An unused bucket then holds the tokens of that time, which is its capacity; each minute as
 * many tokens expire as are added.
 *
 * <p>This holds only if the tokens have all ages. A full bucket of tokens of the same age would
 * hold twice its capacity before they expired together. So the token producer keeps filling a
 * bucket that changes to direct filling for one token lifetime. Each minute it replaces as many of
 * the oldest tokens as the schedule will send. Only then does it set the queue's retention, which
 * SQS may take {@link #RETENTION_DELAY} to apply, and after that it changes the schedule.
 *
 * <p>The tokens are not delayed. A token with a lifetime of one minute that was hidden for most of
 * it would be available for seconds only.
 *
 * @param tokens the tokens that the schedule sends each minute
 * @param lifetime how long the queue keeps a token
 */
public record DirectFill(int tokens, Duration lifetime) {
  /**
   * The most tokens that a schedule sends: the entries of one SendMessageBatch (SQS API reference).
   */
  public static final int MAX_TOKENS = TokenQueue.BATCH;

  /** The longest that SQS keeps a message (SQS API reference, CreateQueue). */
  public static final Duration LONGEST_LIFETIME = Duration.ofDays(14);

  /**
   * How long SQS may take to apply a new retention period (SQS API reference, SetQueueAttributes).
   */
  public static final Duration RETENTION_DELAY = Duration.ofMinutes(15);

  private static final long MICRO = 1_000_000;
  private static final String FIELD = "fillMode";

  /** The batch and the token lifetime of a bucket. */
  static DirectFill of(BucketSpec spec) {
    long tokens = spec.rate().microtokensPerMinute() / MICRO;
    return new DirectFill((int) tokens, Duration.ofSeconds(spec.capacity() * 60 / tokens));
  }

  /**
   * Checks that a schedule can send the rate and that token expiry can hold the capacity.
   *
   * @throws InvalidValue if not
   */
  static void check(Rate rate, long capacity) {
    long micro = rate.microtokensPerMinute();
    InvalidValue.unless(
        micro % MICRO == 0 && micro / MICRO <= MAX_TOKENS,
        FIELD,
        FillMode.DIRECT,
        "PRODUCER or SHARED for "
            + rate
            + ": DIRECT sends the same batch each minute, 1 to "
            + MAX_TOKENS
            + " whole tokens");
    long tokens = micro / MICRO;
    InvalidValue.unless(
        capacity >= tokens,
        FIELD,
        FillMode.DIRECT,
        "PRODUCER or SHARED for a capacity of "
            + capacity
            + " at "
            + rate
            + ": with DIRECT tokens expire after capacity ÷ rate, and a queue keeps them for 60 s at "
            + "least, so the capacity is at least "
            + tokens);
    long max = tokens * LONGEST_LIFETIME.toMinutes();
    InvalidValue.unless(
        capacity <= max,
        FIELD,
        FillMode.DIRECT,
        "PRODUCER or SHARED for a capacity of "
            + capacity
            + " at "
            + rate
            + ": with DIRECT tokens expire after capacity ÷ rate, and a queue keeps them for 14 days "
            + "at most, so the capacity is at most "
            + max);
  }
}
