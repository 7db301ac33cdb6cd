package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;

/**
 * The ledger of a bucket that a {@link Calendar} fills. It counts the tokens that were minted in a
 * period, and owes the rest of the capacity. So in a period at most {@code capacity} tokens are
 * minted, whether a schedule fires twice, late or not at all, and however the capacity changes
 * meanwhile: a higher capacity is owed the difference, and under a lower one a fill removes tokens.
 *
 * <p>Tokens of earlier periods are void: claims do not accept them, and fills remove them. With
 * {@link Calendar#carryOver}, tokens stay valid for one more period, so a period has at most twice
 * the capacity.
 *
 * @param since when the period began, or the bucket was opened or got another calendar in it
 * @param minted the tokens minted since then; 0 or more
 * @param validFrom tokens that were minted earlier are void; not after {@code since}
 */
public record CalendarLedger(Instant since, long minted, Instant validFrom) implements Ledger {
  /** A step mints a hundredth of the capacity, so that a crash loses no more. */
  private static final long STEPS = 100;

  /**
   * Checks the number of tokens.
   *
   * @throws InvalidValue if it is negative, or {@code validFrom} is after {@code since}
   */
  public CalendarLedger {
    InvalidValue.inRange("minted", minted, 0, Long.MAX_VALUE);
    InvalidValue.unless(!validFrom.isAfter(since), "validFrom", validFrom, "at most since");
  }

  static CalendarLedger opened(Instant now) {
    return new CalendarLedger(now, 0, now);
  }

  /**
   * After a change at {@code now}: what a fill minted before is void, even if its clock is fast.
   */
  static CalendarLedger changed(Instant now) {
    return opened(now.plus(Bucket.SKEW));
  }

  static CalendarLedger balanced(Calendar calendar, long capacity, Instant now) {
    Instant start = calendar.start(now);
    return new CalendarLedger(start, capacity, start);
  }

  private static Calendar calendar(BucketSpec spec) {
    return (Calendar) spec.refill();
  }

  /** This ledger, or the one of a period that has begun since. */
  private CalendarLedger at(BucketSpec spec, Instant now) {
    Instant start = calendar(spec).start(now);
    if (!start.isAfter(since)) {
      return this;
    }
    boolean followsThis = calendar(spec).next(since).equals(start);
    Instant valid = calendar(spec).carryOver() && followsThis ? since : start;
    return new CalendarLedger(start, 0, valid);
  }

  /** {@inheritDoc} Nothing is minted ahead, and the level does not matter. */
  @Override
  public Step step(BucketSpec spec, Instant now, Instant horizon, long level) {
    CalendarLedger current = at(spec, now);
    long owed = Math.max(0, spec.capacity() - current.minted);
    long tokens = Math.min(owed, stepSize(spec));
    return new Step(
        tokens,
        new CalendarLedger(current.since, current.minted + tokens, current.validFrom),
        tokens == owed);
  }

  @Override
  public Ledger bounded(BucketSpec spec, Instant now, long level) {
    return this;
  }

  /** {@inheritDoc} Another calendar begins a period a moment later, with the full capacity. */
  @Override
  public Ledger retuned(BucketSpec before, BucketSpec after, Instant now) {
    if (before.refill().equals(after.refill())) {
      return this;
    }
    return after.refill() instanceof Calendar ? changed(now) : Ledger.balanced(after, now);
  }

  @Override
  public Ledger withUnsent(BucketSpec spec, Instant now, long tokens) {
    return new CalendarLedger(since, Math.max(0, minted - tokens), validFrom);
  }

  @Override
  public Ledger withTrimmed(BucketSpec spec, Instant now, long tokens) {
    return at(spec, now).since.equals(since) ? withUnsent(spec, now, tokens) : this;
  }

  /**
   * Whether no token that was minted so far is valid at {@code now}: a period or another calendar
   * has begun, and nothing was minted since.
   */
  boolean hasMintedNoValidToken(BucketSpec spec, Instant now) {
    return validFrom(spec, now).isAfter(since) || minted == 0 && validFrom.equals(since);
  }

  /** The most tokens that a fill adds or removes before it writes the ledger again. */
  static long stepSize(BucketSpec spec) {
    return Math.max(TokenQueue.BATCH, (spec.capacity() + STEPS - 1) / STEPS);
  }

  /** How many tokens exceed the capacity at {@code now}. */
  long excess(BucketSpec spec, Instant now) {
    return Math.max(0, at(spec, now).minted - spec.capacity());
  }

  @Override
  public Instant mintedThrough(BucketSpec spec) {
    return minted < spec.capacity() ? since : calendar(spec).next(since);
  }

  @Override
  public Instant aheadFrom() {
    return since;
  }

  @Override
  public Instant dueAfter(BucketSpec spec, Instant now, long tokens) {
    CalendarLedger current = at(spec, now);
    return tokens <= spec.capacity() - current.minted
        ? current.since
        : calendar(spec).next(current.since);
  }

  @Override
  public Instant dueAt(BucketSpec spec, long tokens) {
    return mintedThrough(spec);
  }

  @Override
  public long pendingAt(BucketSpec spec, Instant now) {
    return 0;
  }

  @Override
  public long mintedAfter(BucketSpec spec, Instant instant) {
    return since.isAfter(instant) ? minted : 0;
  }

  @Override
  public boolean isOwedAtMost(BucketSpec spec, Instant instant, long tokens, long millis) {
    return false;
  }

  @Override
  public Instant validFrom(BucketSpec spec, Instant now) {
    return at(spec, now).validFrom;
  }
}
