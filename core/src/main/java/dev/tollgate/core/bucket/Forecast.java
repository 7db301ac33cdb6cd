package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * What a bucket's row tells about an instant: which tokens can be claimed, when the next ones
 * appear, and who waits in line.
 *
 * @param row the bucket as stored
 * @param now the instant
 */
public record Forecast(Bucket row, Instant now) {
  /**
   * The longest that a bucket counts as empty without another request to its queue. Nothing reports
   * that a token was returned or that its lease ended.
   */
  private static final Duration LONGEST_EMPTY = Duration.ofSeconds(10);

  /**
   * The longest that a bucket counts as empty while tokens may appear at any time: other callers
   * hold some and may return them, or some were minted ahead at another rate.
   */
  private static final Duration EMPTY_WHILE_TOKENS_MAY_APPEAR = Duration.ofSeconds(1);

  /**
   * The longest that a bucket counts as empty if its schedule fills it directly. The second of the
   * minute at which the schedule fires is unknown.
   */
  private static final Duration EMPTY_WHILE_DIRECT = Duration.ofSeconds(5);

  /** How long after it was opened a bucket counts as new: its queue is created meanwhile. */
  private static final Duration NEW = Duration.ofSeconds(5);

  /** How far ahead a hint may end. Claims store hints of {@link Bucket#RECONCILE_TIME} at most. */
  private static final Duration LONGEST_HINT = Bucket.RECONCILE_TIME.plus(Bucket.SKEW);

  /**
   * How much farther ahead a slot may be than the tokens of a full line at the present rate,
   * because it was told at another rate. A line beyond that is wrong, and counts as absent.
   */
  private static final Duration LONGEST_WAIT = Duration.ofDays(1);

  /** The tokens that can be claimed at {@code now}, if none was claimed since the last fill. */
  public long available() {
    return isKnownEmpty() || row.hasVoidTokensAt(now)
        ? 0
        : Math.max(
            0,
            row.level()
                - row.ledger().pendingAt(row.spec(), now.minus(Bucket.MAX_APPEARANCE_DELAY)));
  }

  /** Whether the bucket is known to be empty at {@code now}. */
  public boolean isKnownEmpty() {
    return emptyUntil().isPresent();
  }

  /** The instant until which the bucket is known to be empty; empty if it is not known to be. */
  public Optional<Instant> emptyUntil() {
    return validHint().map(EmptyHint::until);
  }

  /** The hint, unless it has ended, or ends later than any that a claim stores. */
  private Optional<EmptyHint> validHint() {
    return row.emptyHint()
        .filter(seen -> now.isBefore(seen.until()))
        .filter(seen -> !seen.until().isAfter(now.plus(LONGEST_HINT)));
  }

  /**
   * The hint to store after a claim found this bucket empty.
   *
   * @param held the tokens that other callers hold
   */
  public EmptyHint hintWhenEmpty(long held) {
    boolean mayAppear = held > 0 || row.ledger().aheadFrom().isAfter(now);
    if (row.fillsOncePerMinute()) {
      Duration unknown = mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : EMPTY_WHILE_DIRECT;
      return new EmptyHint(now, now.plus(unknown), held);
    }
    Instant latest = now.plus(mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : LONGEST_EMPTY);
    // A token that became due within the last second may not have appeared yet.
    Instant next = nextTokensAfter(now.minus(Bucket.MAX_APPEARANCE_DELAY), 1);
    return new EmptyHint(now, next.isBefore(latest) ? next : latest, held);
  }

  /** The hint to store after a claim found no queue. The next fill removes it. */
  public EmptyHint hintWhenQueueMissing() {
    return new EmptyHint(now, now.plus(Bucket.RECONCILE_TIME), 0);
  }

  /** Whether SQS may not know the queue yet, because this bucket was opened a moment ago. */
  public boolean mayLackQueue() {
    return now.isBefore(row.fillState().since().plus(NEW));
  }

  /**
   * Whether a claim must wait for a fill: the bucket hibernates and its tokens may have expired.
   */
  public boolean needsWaking() {
    return row.isHibernating() && row.hasExpiredAt(now);
  }

  /**
   * Whether a claim must request a fill: no token is pending (with a line: none after {@link
   * BucketSpec#lineLead}; with direct filling: the fill is overdue) or tokens must be removed, and
   * the token producer fills the bucket or would do so if it were awake.
   */
  public boolean needsFill() {
    if (row.fillState().state() != FillState.State.PRODUCED) {
      return row.isHibernating();
    }
    return row.fillsOncePerMinute()
        ? row.isOverdueAt(now)
        : row.exceedsCapacityAt(now)
            || !row.ledger()
                .mintedThrough(row.spec())
                .isAfter(hasLine() ? now.plus(row.spec().lineLead()) : now);
  }

  /**
   * Whether tokens may be taken ahead of the claims that they are for. The bucket must be at least
   * half full, the token producer must fill it at a rate in another mode than {@code DIRECT}, and
   * its line must be empty.
   */
  public boolean allowsPrefetch() {
    return row.fillState().state() == FillState.State.PRODUCED
        && row.spec().refill() instanceof Rate
        && !row.fillsOncePerMinute()
        && !hasLine()
        && 2 * available() >= row.spec().capacity();
  }

  /** When a bucket that is empty at {@code now} gets its next token, as far as is known. */
  public Instant nextToken() {
    return nextTokens(1);
  }

  /**
   * When a bucket that is empty at {@code now} will have received this many tokens. If its schedule
   * fills it directly, the second at which it fires is unknown, but it fires once within any
   * minute.
   *
   * @param tokens 1 or more; more than the capacity counts as the capacity
   */
  public Instant nextTokens(long tokens) {
    long n =
        Math.min(InvalidValue.inRange("tokens", tokens, 1, Long.MAX_VALUE), row.spec().capacity());
    if (row.fillState().state() == FillState.State.DIRECT) {
      long fills = -Math.floorDiv(-n, (long) DirectFill.of(row.spec()).tokens());
      return now.plus(Bucket.MINUTE.multipliedBy(fills)).plus(Bucket.MAX_APPEARANCE_DELAY);
    }
    // No token was claimed since the bucket was found empty, if the hint is still valid.
    Instant taken = validHint().map(EmptyHint::since).orElse(now);
    Instant next = nextTokensAfter(taken.isBefore(now) ? taken : now, n);
    Instant exact = row.fillsOncePerMinute() ? next.plus(Bucket.MINUTE) : next;
    return emptyUntil().filter(exact::isBefore).orElse(exact);
  }

  /** When the n-th token that is due after {@code appeared} becomes visible. */
  private Instant nextTokensAfter(Instant appeared, long n) {
    Ledger awake = row.isHibernating() ? row.woken(now).ledger() : row.bounded(now);
    Instant due = awake.dueAfter(row.spec(), appeared, n);
    boolean isOnItsWay = n <= awake.pendingAt(row.spec(), appeared);
    return (isOnItsWay || due.isAfter(now) ? due : now).plus(Bucket.MAX_APPEARANCE_DELAY);
  }

  /**
   * The line, if anybody waits in it at {@code now}, see {@link Line}. Nobody waits while the line
   * is switched off. A line is ignored if its last slot is later than any slot that Tollgate
   * issues; the next refused caller then opens a new line.
   */
  public Optional<Line> line() {
    return openLine().filter(known -> known.isLiveAt(now));
  }

  /** How many callers wait in line at {@code now} for their slots to come. */
  public long waiting() {
    return line().map(known -> known.ahead(known.extended().last(), now)).orElse(0L);
  }

  /**
   * How long a caller waits for its slot if it joins the line at {@code now}. It is zero if nobody
   * waits or a token is spare.
   */
  public Duration lineWait() {
    return line()
        .filter(known -> known.spare() == 0)
        .map(known -> Duration.between(now, known.slot(known.nextNumber(now))))
        .filter(wait -> !wait.isNegative())
        .orElse(Duration.ZERO);
  }

  private Optional<Line> openLine() {
    Instant latest = now.plus(Line.span(row.spec().rate(), Line.MAX_FREED)).plus(LONGEST_WAIT);
    return row.line()
        .filter(known -> row.spec().keepsLine())
        .filter(known -> !known.slot(known.issued() + 1).isAfter(latest));
  }

  private boolean hasLine() {
    return line().isPresent();
  }

  /** The state of a place at {@code now}. */
  public Line.Standing standing(Place place) {
    return openLine().map(known -> known.standing(place, now)).orElse(Line.Standing.VOID);
  }

  /**
   * When n callers without a place may claim, if nobody else joins the line. By then the next n
   * slots have come, and the last place is no longer due. Empty if nobody waits.
   */
  public Optional<Instant> lineEnds(long n) {
    return line()
        .map(
            known -> {
              Instant end = known.slot(known.issued()).plus(Line.DUE_FOR);
              Instant next = known.slot(known.issued() + n);
              return next.isAfter(end) ? next : end;
            });
  }

  /**
   * A new line, with one place, for a caller that was refused until {@code slot}.
   *
   * <p>A bucket without a line may have had one, which was lost with its row or could not be read.
   * Its places must not count in the new line. A bucket opens less than one line a second, so no
   * lost line had an epoch as high as the present second.
   */
  public Line lineOpened(Instant slot) {
    Instant due = firstDueBefore(slot);
    long epoch = row.line().map(known -> known.epoch() + 1).orElse(now.getEpochSecond());
    Set<Place> freed = row.line().map(Line::freed).orElse(Set.of());
    return Line.opened(epoch, row.spec().rate(), due, slot, now).withFreed(freed);
  }

  /**
   * When the next token after {@code now} appears if fills are punctual. Owed tokens are sent
   * together, as many as the bucket can hold. If it is full then, the token after them is due a
   * token's time after the fill.
   */
  private Instant firstDueBefore(Instant slot) {
    if (row.fillsOncePerMinute()) {
      return slot;
    }
    Ledger awake = row.isHibernating() ? row.woken(now).ledger() : row.bounded(now);
    Instant due = awake.dueAfter(row.spec(), now, 1).plus(Bucket.MAX_APPEARANCE_DELAY);
    Instant full =
        slot.plus(Bucket.MAX_APPEARANCE_DELAY)
            .minus(Line.span(row.spec().rate(), row.spec().capacity() - 1));
    if (needsFill() && due.isBefore(full)) {
      return full;
    }
    return due.isBefore(slot) ? due : slot;
  }

  /**
   * The line after the bucket's rate was changed; empty if the line has this rate, or must keep its
   * own until its callers have come.
   */
  public Optional<Line> lineRetuned() {
    Instant through = row.ledger().mintedThrough(row.spec()).plus(Bucket.MAX_APPEARANCE_DELAY);
    return row.line()
        .filter(known -> !known.rate().equals(row.spec().rate()))
        .filter(known -> !known.mustKeepRate(row.spec().rate(), now))
        .map(known -> known.retuned(row.spec().rate(), through, nextToken()));
  }

  /** The first slot after {@code now} behind a place, if its token has been minted. */
  public Optional<Instant> nextMintedSlot(Place place) {
    return row.line().map(known -> known.nextSlot(place, now)).filter(slot -> !row.owes(slot));
  }
}
