package dev.tollgate.core.bucket;

import java.time.Instant;

/**
 * Which tokens of a bucket have been minted, and which it is still owed.
 *
 * <p>A ledger is stored before its tokens are sent. A crash in between loses them and never
 * duplicates them. To limit the loss, one step mints a part of the tokens.
 */
public sealed interface Ledger permits RateLedger, CalendarLedger {
  /** Units in a token: milliseconds in a minute × millionths in a token. */
  long UNIT = 60_000L * 1_000_000L;

  /** The ledger of a new bucket, which is owed its capacity. */
  static Ledger opened(BucketSpec spec, Instant now) {
    return spec.refill() instanceof Calendar
        ? CalendarLedger.opened(now)
        : RateLedger.opened(spec, now);
  }

  /** The ledger of a bucket that is owed nothing at {@code now} and has no pending tokens. */
  static Ledger balanced(BucketSpec spec, Instant now) {
    return spec.refill() instanceof Calendar calendar
        ? CalendarLedger.balanced(calendar, spec.capacity(), now)
        : RateLedger.balanced(now);
  }

  /**
   * The next step of a fill.
   *
   * @param spec the bucket's refill and capacity
   * @param now the instant up to which tokens are owed
   * @param horizon the instant up to which tokens are minted ahead, if the bucket has room for
   *     them; {@code now} or later
   * @param level the tokens in the bucket now: visible, delayed and held
   */
  Step step(BucketSpec spec, Instant now, Instant horizon, long level);

  /**
   * This ledger, limited to what a late fill may mint.
   *
   * @param level the tokens in the bucket after its last fill
   */
  Ledger bounded(BucketSpec spec, Instant now, long level);

  /** The ledger under another refill or capacity. */
  Ledger retuned(BucketSpec before, BucketSpec after, Instant now);

  /** This ledger after some minted tokens could not be sent. */
  Ledger withUnsent(BucketSpec spec, Instant now, long tokens);

  /** This ledger after a fill removed some tokens because they exceeded the capacity. */
  Ledger withTrimmed(BucketSpec spec, Instant now, long tokens);

  /** The instant through which tokens have been minted: from then on a fill is due. */
  Instant mintedThrough(BucketSpec spec);

  /** Tokens that are due later were minted ahead. */
  Instant aheadFrom();

  /**
   * When the n-th future token is due: a token that is pending at {@code now}, or one that is not
   * yet minted. The result is not after {@code now} for a token that is owed already.
   *
   * @param tokens n, 1 to {@value BucketSpec#MAX_CAPACITY}
   */
  Instant dueAfter(BucketSpec spec, Instant now, long tokens);

  /** When the n-th token that is not yet minted is due. */
  Instant dueAt(BucketSpec spec, long tokens);

  /** The minted tokens that become due after {@code now}. */
  long pendingAt(BucketSpec spec, Instant now);

  /** The minted tokens that became or become due after {@code instant}. */
  long mintedAfter(BucketSpec spec, Instant instant);

  /** Whether the balance of an instant is at most that many tokens and what accrues in a time. */
  boolean isOwedAtMost(BucketSpec spec, Instant instant, long tokens, long millis);

  /** Tokens that were minted before this instant are void at {@code now}. */
  Instant validFrom(BucketSpec spec, Instant now);

  /**
   * One step of a fill.
   *
   * @param tokens how many tokens to mint; the i-th is due at {@code dueAt(spec, i)} of the
   *     previous ledger
   * @param after the ledger after the step
   * @param complete whether no further step is needed
   */
  record Step(long tokens, Ledger after, boolean complete) {
    /**
     * When its tokens count as minted: not before the period for which they were counted, because
     * the period may have begun by a clock that is ahead of this fill's.
     */
    public Instant mintedAt(Instant now) {
      return after instanceof CalendarLedger counted && counted.since().isAfter(now)
          ? counted.since()
          : now;
    }
  }
}
