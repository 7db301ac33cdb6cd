package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * Which tokens of a bucket have been minted, and which it is still owed.
 *
 * <h2>The arithmetic</h2>
 *
 * A bucket is owed {@code rate × time}. The ledger records the instant through which tokens were
 * minted ({@code mintedThrough}) and the remaining part of a token ({@code carried}). All numbers
 * are integers: a rate is in millionths of a token a minute and time in milliseconds, so their
 * product is in units of which {@value #UNIT} make a token. Nothing is rounded.
 *
 * <p>The <em>balance</em> of an instant is {@code carried + rate × (instant − mintedThrough)}. It
 * grows at the rate, and each whole token by which it grows is due at that instant. A positive
 * balance is owed and not yet minted. A negative balance was minted ahead: {@code mintedThrough} is
 * in the future, and the tokens are pending, each hidden until it is due.
 *
 * <h2>What overflows</h2>
 *
 * A full bucket overflows: tokens that it cannot hold are not owed later, and neither is a fraction
 * of a token. It is unknown when a bucket was full between two fills. So a fill mints at most the
 * room that the last fill left, and one minute's tokens. Therefore the tokens spent in any time are
 * at most {@code capacity + rate × time + one minute's tokens}, however late a fill is.
 *
 * <p>A new bucket is owed its capacity, and a bucket whose rate changes keeps its balance. So one
 * rule fills new, changed, late and ordinary buckets.
 *
 * <p>A ledger is stored before its tokens are sent. A crash in between loses them and never
 * duplicates them. To limit the loss, one step mints at most one minute's tokens, or one batch if a
 * batch is larger.
 *
 * @param mintedThrough the instant through which tokens have been minted
 * @param carried what is owed in addition, in units; 0 to capacity × {@value #UNIT}
 * @param aheadFrom tokens due between this and {@code mintedThrough} were minted ahead and sent
 *     with a delay; earlier ones were sent without
 */
public record Ledger(Instant mintedThrough, long carried, Instant aheadFrom) {
  /** Units in a token: milliseconds in a minute × millionths in a token. */
  public static final long UNIT = 60_000L * 1_000_000L;

  private static final long MINUTE_MILLIS = 60_000;
  private static final long MAX_UNITS = BucketSpec.MAX_CAPACITY * UNIT;

  /**
   * Checks {@code carried}.
   *
   * @throws InvalidValue if it is out of range
   */
  public Ledger {
    InvalidValue.inRange("carried", carried, 0, MAX_UNITS);
  }

  /** A ledger without pending tokens. */
  public Ledger(Instant mintedThrough, long carried) {
    this(mintedThrough, carried, mintedThrough);
  }

  /** The ledger of a new bucket, which is owed its capacity. */
  public static Ledger opened(BucketSpec spec, Instant now) {
    return new Ledger(now, spec.capacity() * UNIT);
  }

  /** The ledger of a bucket that is owed nothing and has no pending tokens. */
  static Ledger balanced(Instant now) {
    return new Ledger(now, 0);
  }

  /**
   * The next step of a fill.
   *
   * @param spec the bucket's rate and capacity
   * @param now the instant up to which tokens are owed
   * @param horizon the instant up to which tokens are minted ahead, if the bucket has room for
   *     them; {@code now} or later
   * @param level the tokens in the bucket now: visible, delayed and held
   */
  public Step step(BucketSpec spec, Instant now, Instant horizon, long level) {
    long room = Math.max(0, spec.capacity() - level);
    long max = mostAtOnce(spec);
    boolean overflows = !mintedThrough.isAfter(now) && wholeTokens(spec.rate(), now) >= room;
    if (overflows && room <= max) {
      return new Step(room, balanced(plus(millisUntil(now))), true);
    }
    long due = Math.max(0, wholeTokens(spec.rate(), overflows ? now : horizon));
    long wanted = Math.min(due, room);
    long tokens = Math.min(wanted, max);
    boolean all = tokens == due && tokens < room && !horizon.isBefore(mintedThrough);
    // The carried part alone may exceed these tokens; mintedThrough never moves back.
    long reached =
        all ? millisUntil(horizon) : Math.max(0, millisToReach(spec.rate(), tokens * UNIT));
    boolean unchanged = tokens == 0 && !all;
    return new Step(
        tokens, unchanged ? this : after(spec.rate(), now, reached, tokens), tokens == wanted);
  }

  /**
   * This ledger, limited to the room that the last fill left and one minute's tokens.
   *
   * @param level the tokens in the bucket after its last fill
   */
  Ledger bounded(BucketSpec spec, Instant now, long level) {
    long room = Math.max(0, spec.capacity() - level) * UNIT;
    long max = Math.min(MAX_UNITS, room + spec.rate().microtokensPerMinute() * MINUTE_MILLIS);
    return balance(spec.rate(), now) > max ? new Ledger(plus(millisUntil(now)), max) : this;
  }

  /**
   * The ledger under a new rate and capacity. Tokens owed at the old rate until {@code now} stay
   * owed, as far as the new capacity can hold them. If tokens were minted ahead, the new rate
   * applies after the last of them, a minute later at most. Their due times follow from the old
   * rate, so the result does not report them as pending.
   */
  public Ledger retuned(BucketSpec before, BucketSpec after, Instant now) {
    if (mintedThrough.isAfter(now)) {
      return new Ledger(mintedThrough, carried);
    }
    long held = Math.min(before.capacity(), after.capacity()) * UNIT;
    return new Ledger(plus(millisUntil(now)), Math.min(held, balance(before.rate(), now)));
  }

  /** This ledger after some minted tokens could not be sent. */
  Ledger withUnsent(Rate rate, Instant now, long tokens) {
    return withBalance(rate, now, Math.min(MAX_UNITS, balance(rate, now) + tokens * UNIT));
  }

  /** A ledger with this balance at {@code now}. */
  private Ledger withBalance(Rate rate, Instant now, long balance) {
    Instant at = plus(millisUntil(now));
    if (balance >= 0) {
      return new Ledger(at, balance);
    }
    long millis = ceilDiv(-balance, rate.microtokensPerMinute());
    return new Ledger(at.plusMillis(millis), balance + rate.microtokensPerMinute() * millis, at);
  }

  /**
   * When the n-th future token is due: a token that is pending at {@code now}, or one that is not
   * yet minted. The result is before {@code now} for a token that is owed already.
   *
   * @param tokens n, 1 to {@value BucketSpec#MAX_CAPACITY}
   */
  public Instant dueAfter(Rate rate, Instant now, long tokens) {
    return plus(millisToReach(rate, (tokens - pendingAt(rate, now)) * UNIT));
  }

  /** When the n-th token that is not yet minted is due. */
  Instant dueAt(Rate rate, long tokens) {
    return plus(millisToReach(rate, tokens * UNIT));
  }

  /** The minted tokens that become due after {@code now}. */
  public long pendingAt(Rate rate, Instant now) {
    return mintedAfter(rate, now.isBefore(aheadFrom) ? aheadFrom : now);
  }

  /** The minted tokens that became or become due after {@code instant}. */
  long mintedAfter(Rate rate, Instant instant) {
    return Math.max(0, -wholeTokens(rate, instant));
  }

  /** Whether the balance of an instant is at most that many tokens and what accrues in a time. */
  boolean isOwedAtMost(Rate rate, Instant instant, long tokens, long millis) {
    return balance(rate, instant) <= tokens * UNIT + rate.microtokensPerMinute() * millis;
  }

  private long millisUntil(Instant instant) {
    return Duration.between(mintedThrough, instant).toMillis();
  }

  private Instant plus(long millis) {
    return mintedThrough.plusMillis(millis);
  }

  /** The whole tokens in the balance of an instant; negative if tokens are pending. */
  private long wholeTokens(Rate rate, Instant instant) {
    return Math.floorDiv(balance(rate, instant), UNIT);
  }

  private long balance(Rate rate, Instant instant) {
    return balance(rate, millisUntil(instant));
  }

  /** The balance, limited to what the largest bucket can hold. */
  private long balance(Rate rate, long millis) {
    long max = MAX_UNITS / rate.microtokensPerMinute();
    if (millis > max) {
      return MAX_UNITS;
    }
    return millis < -max
        ? -MAX_UNITS
        : Math.min(MAX_UNITS, carried + rate.microtokensPerMinute() * millis);
  }

  private long millisToReach(Rate rate, long balance) {
    return ceilDiv(balance - carried, rate.microtokensPerMinute());
  }

  /**
   * The ledger after tokens were minted at {@code now}, with {@code mintedThrough} moved by {@code
   * millis}.
   */
  private Ledger after(Rate rate, Instant now, long millis, long tokens) {
    Instant reached = plus(millis);
    Instant from = mintedThrough.isAfter(now) ? aheadFrom : now;
    return new Ledger(
        reached, balance(rate, millis) - tokens * UNIT, from.isAfter(reached) ? reached : from);
  }

  private static long ceilDiv(long dividend, long divisor) {
    return -Math.floorDiv(-dividend, divisor);
  }

  private static long mostAtOnce(BucketSpec spec) {
    return Math.max(spec.rate().ceiling(), TokenQueue.BATCH);
  }

  /**
   * One step of a fill.
   *
   * @param tokens how many tokens to mint; the i-th is due at {@code dueAt(rate, i)} of the
   *     previous ledger
   * @param after the ledger after the step
   * @param complete whether no further step is needed
   */
  public record Step(long tokens, Ledger after, boolean complete) {}
}
