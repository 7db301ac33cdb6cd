package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;

/**
 * What a bucket has been given, and what it is still owed.
 *
 * <h2>The arithmetic</h2>
 *
 * A bucket is owed {@code rate × time}. The ledger says up to when that was reckoned ({@code
 * filledThrough}) and what was left over that was too little for a whole token ({@code carried}).
 * All of it is whole numbers: a rate is in millionths of a token a minute and time in milliseconds,
 * so their product counts in units of which {@value #UNIT} make a token, and nothing is ever
 * rounded. A fill adds the product to what is carried, mints the whole tokens in it, and carries
 * the rest.
 *
 * <p>A full bucket overflows: what it cannot hold is not owed later, nor is the rest of a token.
 *
 * <p>A new bucket is owed its capacity, and a bucket whose rate changes is owed what the old rate
 * brought up to that instant; both are simply carried. Therefore one rule fills new, retuned, late
 * and ordinary buckets.
 *
 * <p>A ledger is moved forward before its tokens are sent, so a crash in between loses them and
 * never makes them twice. So that it cannot lose much, one step mints no more than one minute's
 * tokens, or one batch if that is more.
 *
 * @param filledThrough up to when the bucket has been given what the rate brings
 * @param carried what it is owed beyond that, in units; 0 to capacity × {@value #UNIT}
 */
public record Ledger(Instant filledThrough, long carried) {
  /** Units in a token: milliseconds in a minute × millionths in a token. */
  public static final long UNIT = 60_000L * 1_000_000L;

  /**
   * Checks what is carried.
   *
   * @throws InvalidValue if it is out of range
   */
  public Ledger {
    InvalidValue.inRange("carried", carried, 0, BucketSpec.MOST_CAPACITY * UNIT);
  }

  /** The ledger of a new bucket: it is owed all that it can hold. */
  public static Ledger opened(BucketSpec spec, Instant now) {
    return new Ledger(now, spec.capacity() * UNIT);
  }

  /** The ledger of a bucket that is owed nothing. */
  static Ledger even(Instant now) {
    return new Ledger(now, 0);
  }

  /**
   * The next step of filling a bucket up to what is owed at {@code through}.
   *
   * @param spec the bucket's rate and capacity
   * @param through up to when to fill; nothing is due if that is before {@link #filledThrough}
   * @param level the tokens in the bucket now
   */
  public Step step(BucketSpec spec, Instant through, long level) {
    long elapsed = millisUntil(through);
    if (elapsed < 0) {
      return new Step(0, 0, this, true);
    }
    long room = Math.max(0, spec.capacity() - level);
    long owed = owedAfter(spec.rate(), elapsed);
    if (owed / UNIT >= room && room <= mostAtOnce(spec)) {
      return new Step(
          room,
          fresh(spec.rate(), elapsed, room),
          new Ledger(filledThrough.plusMillis(elapsed), 0),
          true);
    }
    long most = Math.min(mostAtOnce(spec), room);
    if (owed / UNIT <= most) {
      long tokens = owed / UNIT;
      return new Step(
          tokens,
          fresh(spec.rate(), elapsed, tokens),
          new Ledger(filledThrough.plusMillis(elapsed), owed % UNIT),
          true);
    }
    long reached = millisToOwe(spec.rate(), most);
    Ledger after =
        new Ledger(
            filledThrough.plusMillis(reached), owedAfter(spec.rate(), reached) - most * UNIT);
    return new Step(most, 0, after, false);
  }

  /**
   * The ledger under a new rate and capacity: what the old rate brought until {@code now} stays
   * owed, as far as the new bucket can hold it.
   */
  public Ledger retuned(BucketSpec before, BucketSpec after, Instant now) {
    long elapsed = Math.max(0, millisUntil(now));
    long held = Math.min(before.capacity(), after.capacity()) * UNIT;
    return new Ledger(
        filledThrough.plusMillis(elapsed), Math.min(owedAfter(before.rate(), elapsed), held));
  }

  /** When the bucket will be owed so many whole tokens. */
  public Instant dueAt(Rate rate, long tokens) {
    return filledThrough.plusMillis(millisToOwe(rate, tokens));
  }

  /** How many whole tokens the bucket will be owed at an instant, if it has room for all. */
  public long dueBy(Rate rate, Instant instant) {
    return owedAfter(rate, Math.max(0, millisUntil(instant))) / UNIT;
  }

  private long millisUntil(Instant instant) {
    return Duration.between(filledThrough, instant).toMillis();
  }

  /**
   * What is owed after so many milliseconds, cut off just above what the largest bucket can hold.
   */
  private long owedAfter(Rate rate, long elapsed) {
    long largest = BucketSpec.MOST_CAPACITY * UNIT;
    boolean overflows = elapsed > largest / rate.microtokensPerMinute();
    return overflows ? largest : Math.min(largest, carried + rate.microtokensPerMinute() * elapsed);
  }

  private long millisToOwe(Rate rate, long tokens) {
    long missing = Math.max(0, tokens * UNIT - carried);
    return ceilDiv(missing, rate.microtokensPerMinute());
  }

  private static long ceilDiv(long dividend, long divisor) {
    return -Math.floorDiv(-dividend, divisor);
  }

  private static long mostAtOnce(BucketSpec spec) {
    return Math.max(spec.rate().ceiling(), TokenQueue.BATCH);
  }

  /** Of the tokens minted, those that the last minute brought. */
  private static long fresh(Rate rate, long elapsed, long minted) {
    long brought = rate.microtokensPerMinute() * Math.min(elapsed, 60_000);
    return Math.min(minted, ceilDiv(brought, UNIT));
  }

  /**
   * One step of a fill.
   *
   * @param tokens how many to mint
   * @param fresh how many of them the last minute brought: they are spread over the next one
   * @param after the ledger when they are minted
   * @param complete whether nothing more is due
   */
  public record Step(long tokens, long fresh, Ledger after, boolean complete) {
    /** The same with all tokens sent at once. */
    Step atOnce() {
      return new Step(tokens, 0, after, complete);
    }
  }
}
