package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * What a bucket has been given, and what it is still owed.
 *
 * <h2>The arithmetic</h2>
 *
 * A bucket is owed {@code rate × time}. The ledger records up to which instant tokens were minted
 * ({@code mintedThrough}) and the part of a token that was left over ({@code carried}). All of it
 * is whole numbers: a rate is in millionths of a token a minute and time in milliseconds, so their
 * product counts in units of which {@value #UNIT} make a token, and nothing is ever rounded.
 *
 * <p>The <em>balance</em> of an instant is {@code carried + rate × (instant − mintedThrough)}. It
 * grows at the rate, and each whole token by which it grows is due at that instant. A positive
 * balance is owed and not yet minted. A negative one was minted ahead: the ledger then stands in
 * the future, and the tokens are on their way, each hidden until it is due.
 *
 * <h2>What overflows</h2>
 *
 * A full bucket overflows: what it cannot hold is not owed later, nor is the rest of a token.
 * Nobody knows when between two fills a bucket was full, so a fill never mints more than what the
 * bucket had room for after the last fill, and one minute's tokens. Therefore the tokens spent in
 * any time are at most {@code capacity + rate × time + one minute's tokens}, however late a fill
 * comes.
 *
 * <p>A new bucket is owed its capacity, and a bucket whose rate changes keeps its balance.
 * Therefore one rule fills new, retuned, late and ordinary buckets.
 *
 * <p>A ledger moves before its tokens are sent, so a crash in between loses them and never makes
 * them twice. So that it cannot lose much, one step mints no more than one minute's tokens, or one
 * batch if that is more.
 *
 * @param mintedThrough up to when the tokens that the rate brings have been minted
 * @param carried what is owed beyond that, in units; 0 to capacity × {@value #UNIT}
 * @param aheadFrom from when to {@code mintedThrough} tokens were minted ahead and sent with a
 *     delay; those that were due earlier were sent without
 */
public record Ledger(Instant mintedThrough, long carried, Instant aheadFrom) {
  /** Units in a token: milliseconds in a minute × millionths in a token. */
  public static final long UNIT = 60_000L * 1_000_000L;

  private static final long MINUTE_MILLIS = 60_000;
  private static final long MOST_UNITS = BucketSpec.MAX_CAPACITY * UNIT;

  /**
   * Checks what is carried.
   *
   * @throws InvalidValue if it is out of range
   */
  public Ledger {
    InvalidValue.inRange("carried", carried, 0, MOST_UNITS);
  }

  /** A ledger with nothing on the way. */
  public Ledger(Instant mintedThrough, long carried) {
    this(mintedThrough, carried, mintedThrough);
  }

  /** The ledger of a new bucket: it is owed all that it can hold. */
  public static Ledger opened(BucketSpec spec, Instant now) {
    return new Ledger(now, spec.capacity() * UNIT);
  }

  /** The ledger of a bucket that is owed nothing and has nothing on the way. */
  static Ledger balanced(Instant now) {
    return new Ledger(now, 0);
  }

  /**
   * The next step of a fill.
   *
   * @param spec the bucket's rate and capacity
   * @param now up to when tokens are owed
   * @param horizon up to when tokens are minted ahead, if the bucket has room for them; {@code now}
   *     or later
   * @param level the tokens in the bucket now, wherever they are
   */
  public Step step(BucketSpec spec, Instant now, Instant horizon, long level) {
    long room = Math.max(0, spec.capacity() - level);
    long most = mostAtOnce(spec);
    boolean overflows = !mintedThrough.isAfter(now) && wholeTokens(spec.rate(), now) >= room;
    if (overflows && room <= most) {
      return new Step(room, balanced(plus(millisUntil(now))), true);
    }
    long due = Math.max(0, wholeTokens(spec.rate(), overflows ? now : horizon));
    long wanted = Math.min(due, room);
    long tokens = Math.min(wanted, most);
    boolean all = tokens == due && tokens < room && !horizon.isBefore(mintedThrough);
    // What is carried alone may be more than these tokens; the ledger never goes back.
    long reached =
        all ? millisUntil(horizon) : Math.max(0, millisToReach(spec.rate(), tokens * UNIT));
    boolean stands = tokens == 0 && !all;
    return new Step(
        tokens, stands ? this : after(spec.rate(), now, reached, tokens), tokens == wanted);
  }

  /**
   * This ledger, owing at {@code now} no more than what a bucket had room for after its last fill
   * and one minute's tokens.
   *
   * @param level the tokens in the bucket after its last fill
   */
  Ledger bounded(BucketSpec spec, Instant now, long level) {
    long room = Math.max(0, spec.capacity() - level) * UNIT;
    long most = Math.min(MOST_UNITS, room + spec.rate().microtokensPerMinute() * MINUTE_MILLIS);
    return balance(spec.rate(), now) > most ? new Ledger(plus(millisUntil(now)), most) : this;
  }

  /**
   * The ledger under a new rate and capacity. What the old rate brought until {@code now} stays
   * owed, as far as the new bucket can hold it. If tokens were minted ahead, the new rate holds
   * from where they end, a minute later at most; when they come follows from the old rate alone, so
   * none of them is expected.
   */
  public Ledger retuned(BucketSpec before, BucketSpec after, Instant now) {
    if (mintedThrough.isAfter(now)) {
      return new Ledger(mintedThrough, carried);
    }
    long held = Math.min(before.capacity(), after.capacity()) * UNIT;
    return new Ledger(plus(millisUntil(now)), Math.min(held, balance(before.rate(), now)));
  }

  /** This ledger after so many tokens that were minted have not been sent. */
  Ledger withUnsent(Rate rate, Instant now, long tokens) {
    return withBalance(rate, now, Math.min(MOST_UNITS, balance(rate, now) + tokens * UNIT));
  }

  /** The ledger that has this balance at {@code now}. */
  private Ledger withBalance(Rate rate, Instant now, long balance) {
    Instant at = plus(millisUntil(now));
    if (balance >= 0) {
      return new Ledger(at, balance);
    }
    long millis = ceilDiv(-balance, rate.microtokensPerMinute());
    return new Ledger(at.plusMillis(millis), balance + rate.microtokensPerMinute() * millis, at);
  }

  /**
   * When the n-th token to come is due: one that is on its way at {@code now}, or one that is not
   * yet minted. A token that is owed already was due earlier than {@code now}.
   *
   * @param tokens n, 1 to {@value BucketSpec#MAX_CAPACITY}
   */
  public Instant dueAfter(Rate rate, Instant now, long tokens) {
    return plus(millisToReach(rate, (tokens - pendingAt(rate, now)) * UNIT));
  }

  /** When the n-th token is due that has not been minted yet. */
  Instant dueAt(Rate rate, long tokens) {
    return plus(millisToReach(rate, tokens * UNIT));
  }

  /** How many tokens have been minted that become due after {@code now}. */
  public long pendingAt(Rate rate, Instant now) {
    return mintedAfter(rate, now.isBefore(aheadFrom) ? aheadFrom : now);
  }

  /** How many tokens have been minted that became due after {@code instant}, or will. */
  long mintedAfter(Rate rate, Instant instant) {
    return Math.max(0, -wholeTokens(rate, instant));
  }

  private long millisUntil(Instant instant) {
    return Duration.between(mintedThrough, instant).toMillis();
  }

  private Instant plus(long millis) {
    return mintedThrough.plusMillis(millis);
  }

  /** The whole tokens in the balance of an instant; below none if tokens are on their way. */
  private long wholeTokens(Rate rate, Instant instant) {
    return Math.floorDiv(balance(rate, instant), UNIT);
  }

  private long balance(Rate rate, Instant instant) {
    return balance(rate, millisUntil(instant));
  }

  /** The balance, cut off at what the largest bucket can hold. */
  private long balance(Rate rate, long millis) {
    long most = MOST_UNITS / rate.microtokensPerMinute();
    if (millis > most) {
      return MOST_UNITS;
    }
    return millis < -most
        ? -MOST_UNITS
        : Math.min(MOST_UNITS, carried + rate.microtokensPerMinute() * millis);
  }

  private long millisToReach(Rate rate, long balance) {
    return ceilDiv(balance - carried, rate.microtokensPerMinute());
  }

  /**
   * The ledger after so many tokens were minted at {@code now}, so many milliseconds further on.
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
   * @param tokens how many to mint; the i-th is due at {@code dueAt(rate, i)} of the ledger before
   * @param after the ledger when they are minted
   * @param complete whether nothing more is due
   */
  public record Step(long tokens, Ledger after, boolean complete) {}
}
