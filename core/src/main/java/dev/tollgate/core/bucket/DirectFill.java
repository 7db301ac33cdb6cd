package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;

/**
 * The filling of a bucket by its schedule alone, with no function: once a minute the schedule sends
 * a fixed batch of tokens.
 *
 * <h2>What holds the level</h2>
 *
 * Nobody looks at the level, so tokens must go by themselves: the queue keeps each for {@code
 * capacity ÷ rate} and no longer. A bucket that nobody uses then holds what that time brings, which
 * is its capacity; as much expires in a minute as comes.
 *
 * <p>That is true only of tokens of all ages. Were a full bucket of tokens of one age left to its
 * schedule, it would hold twice its capacity before they expired together. So the token producer
 * goes on filling a bucket that is to be filled directly, for as long as a token is to last: each
 * minute it replaces as many of the oldest tokens as the schedule will send. Only then is the
 * queue's retention set, which SQS may take {@link #RETENTION_DELAY} to follow, and after that the
 * schedule changed.
 *
 * <p>The tokens come undelayed. A token that was hidden for most of a minute, in a bucket whose
 * tokens last for one, would be had for seconds only.
 *
 * @param tokens how many the schedule sends each minute
 * @param lifetime for how long the queue keeps them
 */
public record DirectFill(int tokens, Duration lifetime) {
  /**
   * The most tokens that a schedule sends: the entries of one SendMessageBatch (SQS API reference).
   */
  public static final int MAX_TOKENS = TokenQueue.BATCH;

  /** The longest that SQS keeps a message (SQS API reference, CreateQueue). */
  public static final Duration LONGEST_LIFETIME = Duration.ofDays(14);

  /**
   * How long a queue may take until it keeps messages for another time (SQS API reference,
   * SetQueueAttributes).
   */
  public static final Duration RETENTION_DELAY = Duration.ofMinutes(15);

  private static final long MICRO = 1_000_000;
  private static final String FIELD = "fillMode";

  /** What a bucket of this kind needs of its schedule and its queue. */
  static DirectFill of(BucketSpec spec) {
    long tokens = spec.rate().microtokensPerMinute() / MICRO;
    return new DirectFill((int) tokens, Duration.ofSeconds(spec.capacity() * 60 / tokens));
  }

  /**
   * Refuses what a schedule cannot send and what the expiry of tokens cannot hold.
   *
   * @throws InvalidValue if so; it says why
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
    long most = tokens * LONGEST_LIFETIME.toMinutes();
    InvalidValue.unless(
        capacity <= most,
        FIELD,
        FillMode.DIRECT,
        "PRODUCER or SHARED for a capacity of "
            + capacity
            + " at "
            + rate
            + ": with DIRECT tokens expire after capacity ÷ rate, and a queue keeps them for 14 days "
            + "at most, so the capacity is at most "
            + most);
  }
}
