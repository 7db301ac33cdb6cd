package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * The ledger of a bucket that fills at a {@link Rate}.
 *
 * <h2>The arithmetic</h2>
 *
 * A bucket is owed {@code rate × time}. The ledger records the instant through which tokens were
 * minted ({@code mintedThrough}) and the remaining part of a token ({@code carried}). All numbers
 * are integers: a rate is in millionths of a token a minute and time in milliseconds, so their
 * product is in units of which {@value Ledger#UNIT} make a token. Nothing is rounded.
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
 * <p>One step mints at most one minute's tokens, or one batch if a batch is larger.
 *
 * @param mintedThrough the instant through which tokens have been minted
 * @param carried what is owed in addition, in units; 0 to capacity × {@value Ledger#UNIT}
 * @param aheadFrom tokens due between this and {@code mintedThrough} were minted ahead and sent
 *     with a delay; earlier ones were sent without
 */
public record RateLedger(Instant mintedThrough, long carried, Instant aheadFrom) implements Ledger {
  private static final long MINUTE_MILLIS = 60_000;
  private static final long MAX_UNITS = BucketSpec.MAX_CAPACITY * UNIT;

  /**
   * Checks {@code carried}.
   *
   * @throws InvalidValue if it is out of range
   */
  public RateLedger {
    InvalidValue.inRange("carried", carried, 0, MAX_UNITS);
  }

  /** A ledger without pending tokens. */
  public RateLedger(Instant mintedThrough, long carried) {
    this(mintedThrough, carried, mintedThrough);
  }

  /** The ledger of a new bucket, which is owed its capacity. */
  static RateLedger opened(BucketSpec spec, Instant now) {
    return new RateLedger(now, spec.capacity() * UNIT);
  }

  /** The ledger of a bucket that is owed nothing and has no pending tokens. */
  static RateLedger balanced(Instant now) {
    return new RateLedger(now, 0);
  }

  @Override
  public Step step(BucketSpec spec, Instant now, Instant horizon, long level) {
    long room = Math.max(0, spec.capacity() - level);
    long max = largestStep(spec);
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

  /** {@inheritDoc} The limit is the room that the last fill left and one minute's tokens. */
  @Override
  public RateLedger bounded(BucketSpec spec, Instant now, long level) {
    long room = Math.max(0, spec.capacity() - level) * UNIT;
    long max = Math.min(MAX_UNITS, room + spec.rate().microtokensPerMinute() * MINUTE_MILLIS);
    return balance(spec.rate(), now) > max ? new RateLedger(plus(millisUntil(now)), max) : this;
  }

  /**
   * {@inheritDoc} Tokens owed at the old rate until {@code now} stay owed, as far as the new
   * capacity can hold them. If tokens were minted ahead, the new rate applies after the last of
   * them, a minute later at most. Their due times follow from the old rate, so the result does not
   * report them as pending. A calendar begins a period at {@code now}.
   */
  @Override
  public Ledger retuned(BucketSpec before, BucketSpec after, Instant now) {
    if (after.refill() instanceof Calendar) {
      return CalendarLedger.changed(now);
    }
    if (mintedThrough.isAfter(now)) {
      return new RateLedger(mintedThrough, carried);
    }
    long held = Math.min(before.capacity(), after.capacity()) * UNIT;
    return new RateLedger(plus(millisUntil(now)), Math.min(held, balance(before.rate(), now)));
  }

  @Override
  public Ledger withUnsent(BucketSpec spec, Instant now, long tokens) {
    Rate rate = spec.rate();
    return withBalance(rate, now, Math.min(MAX_UNITS, balance(rate, now) + tokens * UNIT));
  }

  @Override
  public Ledger withTrimmed(BucketSpec spec, Instant now, long tokens) {
    return this;
  }

  @Override
  public Instant mintedThrough(BucketSpec spec) {
    return mintedThrough;
  }

  @Override
  public Instant validFrom(BucketSpec spec, Instant now) {
    return Instant.MIN;
  }

  /** A ledger with this balance at {@code now}. */
  private RateLedger withBalance(Rate rate, Instant now, long balance) {
    Instant at = plus(millisUntil(now));
    if (balance >= 0) {
      return new RateLedger(at, balance);
    }
    long millis = ceilDiv(-balance, rate.microtokensPerMinute());
    return new RateLedger(
        at.plusMillis(millis), balance + rate.microtokensPerMinute() * millis, at);
  }

  @Override
  public Instant dueAfter(BucketSpec spec, Instant now, long tokens) {
    return plus(millisToReach(spec.rate(), (tokens - pendingAt(spec, now)) * UNIT));
  }

  @Override
  public Instant dueAt(BucketSpec spec, long tokens) {
    return plus(millisToReach(spec.rate(), tokens * UNIT));
  }

  @Override
  public long pendingAt(BucketSpec spec, Instant now) {
    return mintedAfter(spec, now.isBefore(aheadFrom) ? aheadFrom : now);
  }

  @Override
  public long mintedAfter(BucketSpec spec, Instant instant) {
    return Math.max(0, -wholeTokens(spec.rate(), instant));
  }

  @Override
  public boolean isOwedAtMost(BucketSpec spec, Instant instant, long tokens, long millis) {
    Rate rate = spec.rate();
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
  private RateLedger after(Rate rate, Instant now, long millis, long tokens) {
    Instant reached = plus(millis);
    Instant from = mintedThrough.isAfter(now) ? aheadFrom : now;
    return new RateLedger(
        reached, balance(rate, millis) - tokens * UNIT, from.isAfter(reached) ? reached : from);
  }

  private static long ceilDiv(long dividend, long divisor) {
    return -Math.floorDiv(-dividend, divisor);
  }

  /** The most tokens that a step mints. */
  static long largestStep(BucketSpec spec) {
    return Math.max(spec.rate().ceiling(), TokenQueue.BATCH);
  }
}
