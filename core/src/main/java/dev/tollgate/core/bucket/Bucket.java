package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The stored state of a bucket. Its tokens are in a {@link TokenQueue}.
 *
 * @param id the tenant and the action
 * @param spec rate, capacity and fill policy
 * @param ledger which tokens have been minted and which are owed
 * @param level the tokens in the bucket after the last fill, including pending ones
 * @param minted the tokens that fills have added since the row was made
 * @param mintedInFull whether {@code minted} counts every token since the tenant was onboarded: not
 *     if the row was recreated or written by an older release, or a schedule filled it directly
 * @param emptyHint what the last claim that found the bucket empty observed; empty if a fill has
 *     added tokens that were due, or found the bucket full, since
 * @param fillState what fills the bucket at present
 * @param line the callers that wait for a token; empty if none ever did
 * @param version counts the writes of this state, except those of {@code emptyHint} and {@code
 *     line}. Programs that claim tokens cannot change it, so each fill mints once
 * @param hintVersion changes whenever an {@code emptyHint} that a claim is about to store becomes
 *     outdated: with {@code version}, and when a token returns to the bucket
 */
public record Bucket(
    BucketId id,
    BucketSpec spec,
    Ledger ledger,
    long level,
    long minted,
    boolean mintedInFull,
    Optional<EmptyHint> emptyHint,
    FillState fillState,
    Optional<Line> line,
    long version,
    long hintVersion) {
  /**
   * The longest time between the due time of a token and its appearance: SQS delays by whole
   * seconds (SQS API reference, SendMessage, {@code DelaySeconds}).
   */
  static final Duration MAX_APPEARANCE_DELAY = Duration.ofSeconds(1);

  static final Duration MINUTE = Duration.ofMinutes(1);

  /**
   * How far ahead a fill mints: until the next fill is due. If the next fill is late, a claim that
   * finds the bucket empty requests it. Concurrent fills that do not see each other's tokens exceed
   * the capacity by the tokens minted ahead, which are one minute's tokens at most.
   */
  private static final Duration AHEAD = MINUTE;

  /**
   * The retry time of a caller if a new bucket has no queue. SQS may not know a queue in its first
   * second (SQS API reference, CreateQueue).
   */
  public static final Duration QUEUE_DELAY = Duration.ofSeconds(1);

  /** The time in which the sweep recreates a missing queue. */
  public static final Duration RECONCILE_TIME = Duration.ofMinutes(1);

  /** The clocks of two processes differ by less. */
  static final Duration SKEW = Duration.ofSeconds(5);

  /** A fill that is this late was lost, because schedules fire once a minute. */
  private static final Duration OVERDUE = Duration.ofMinutes(3);

  /**
   * Checks the numbers of tokens.
   *
   * @throws InvalidValue if one is negative
   */
  public Bucket {
    InvalidValue.inRange("level", level, 0, Long.MAX_VALUE);
    InvalidValue.inRange("minted", minted, 0, Long.MAX_VALUE);
  }

  /** A bucket without a line, to which no fill has added tokens. */
  public Bucket(
      BucketId id,
      BucketSpec spec,
      Ledger ledger,
      long level,
      Optional<EmptyHint> emptyHint,
      FillState fillState,
      long version) {
    this(id, spec, ledger, level, 0, false, emptyHint, fillState, Optional.empty(), version, 0);
  }

  /** A new bucket, which is owed its capacity. */
  public static Bucket opened(BucketId id, BucketSpec spec, Instant now) {
    return opened(id, spec, Ledger.opened(spec, now), now);
  }

  /** This new bucket of a new tenant: its {@code minted} will count every token. */
  public Bucket mintingInFull() {
    return new Bucket(
        id, spec, ledger, level, minted, true, emptyHint, fillState, line, version, hintVersion);
  }

  /** This bucket as a caller sees it that cannot wait in line. */
  public Bucket withoutLine() {
    return new Bucket(
        id,
        spec.withLine(false),
        ledger,
        level,
        minted,
        mintedInFull,
        emptyHint,
        fillState,
        line,
        version,
        hintVersion);
  }

  /**
   * A bucket that replaces an unreadable row. The next fill counts the tokens in its queue. It is
   * owed nothing, so that breaking a row does not fill its bucket.
   */
  public static Bucket recreated(BucketId id, BucketSpec spec, Instant now) {
    return opened(id, spec, Ledger.balanced(spec, now), now);
  }

  private static Bucket opened(BucketId id, BucketSpec spec, Ledger owed, Instant now) {
    FillState state = FillState.entered(FillState.State.PRODUCED, now);
    return new Bucket(id, spec, owed, 0, Optional.empty(), state, 0);
  }

  /**
   * This bucket with a new rate, capacity or fill policy, filled by the token producer from {@code
   * now} on. It keeps what it is owed. A bucket that its schedule fills, or that was full, is owed
   * nothing. If only the switch of the line differs, it is filled as before.
   */
  public Bucket retuned(BucketSpec next, Instant now) {
    boolean switchesLineAlone =
        next.line() != spec.line() && next.equals(spec.withLine(next.line()));
    return switchesLineAlone && fillState.state() != FillState.State.SUSPENDED
        ? written(next, ledger, level, minted, emptyHint, fillState)
        : entering(FillState.State.PRODUCED, next, now);
  }

  /** This bucket after its tenant was suspended at {@code now}: nothing fills it. */
  public Bucket suspended(BucketSpec next, Instant now) {
    return entering(FillState.State.SUSPENDED, next, now);
  }

  /** This bucket hibernating from {@code now} on, after it stayed full. */
  public Bucket hibernating(Instant now) {
    return entering(FillState.State.HIBERNATING, spec, now);
  }

  /** This bucket filled by its schedule alone from {@code now} on. */
  public Bucket direct(Instant now) {
    return entering(FillState.State.DIRECT, spec, now);
  }

  /** This bucket after an inspection at {@code now} that counted {@code found} tokens. */
  public Bucket inspected(long found, Instant now) {
    FillState seen = fillState.inspected(found >= spec.capacity(), now);
    return written(spec, ledger, found, minted, emptyHint, seen);
  }

  private Bucket entering(FillState.State state, BucketSpec next, Instant now) {
    Ledger entered =
        switch (state) {
          case PRODUCED, SUSPENDED -> ledgerAt(now).retuned(spec, next, now);
          case DIRECT, HIBERNATING -> Ledger.balanced(spec, now);
        };
    return written(
        next,
        entered,
        hasExpiredAt(now) ? 0 : level,
        minted,
        Optional.empty(),
        FillState.entered(state, now));
  }

  /** This bucket after another write. */
  private Bucket written(
      BucketSpec next,
      Ledger owed,
      long held,
      long mintedInAll,
      Optional<EmptyHint> hint,
      FillState state) {
    return new Bucket(
        id,
        next,
        owed,
        held,
        mintedInAll,
        mintedInFull && state.state() != FillState.State.DIRECT,
        hint,
        state,
        line,
        version + 1,
        hintVersion + 1);
  }

  /**
   * The ledger at {@code now}. A bucket that is filled directly is owed nothing. A hibernating
   * bucket stayed full and is owed nothing, until its tokens expire; then it is owed its capacity.
   */
  private Ledger ledgerAt(Instant now) {
    if (hasExpiredAt(now)) {
      return Ledger.opened(spec, now);
    }
    return switch (fillState.state()) {
      case PRODUCED, SUSPENDED -> ledger;
      case DIRECT, HIBERNATING -> Ledger.balanced(spec, now);
    };
  }

  /**
   * Whether nothing has filled this bucket for so long that its tokens may have expired. The tokens
   * of a hibernating bucket are older than its hibernation, because it was full for a while before.
   */
  boolean hasExpiredAt(Instant now) {
    Instant since = fillState.since();
    Instant expiry = since.plus(tokenLifetimeAt(since));
    return switch (fillState.state()) {
      case PRODUCED, DIRECT -> false;
      case HIBERNATING ->
          !now.isBefore(
              expiry.minus(Duration.ofMinutes(spec.fillPolicy().hibernateAfterMinutes())));
      case SUSPENDED -> !now.isBefore(expiry);
    };
  }

  /**
   * This bucket filled again from {@code now} on, with the same version. Unless its tokens may have
   * expired it is owed only what accrued since it was found empty, because its missing tokens were
   * claimed just before.
   */
  public Bucket woken(Instant now) {
    boolean expired = hasExpiredAt(now);
    Instant seen = emptyHint.map(EmptyHint::since).filter(now::isAfter).orElse(now);
    return new Bucket(
        id,
        spec,
        expired ? Ledger.opened(spec, now) : Ledger.balanced(spec, seen),
        expired ? 0 : level,
        minted,
        mintedInFull,
        expired ? Optional.empty() : emptyHint,
        FillState.entered(FillState.State.PRODUCED, now),
        line,
        version,
        hintVersion);
  }

  /** The next step of a fill at {@code now}, when the bucket holds {@code found} tokens. */
  public Ledger.Step step(Instant now, long found) {
    return bounded(now).step(spec, now, horizon(now), found);
  }

  private Instant horizon(Instant now) {
    return fillsOncePerMinute() ? now : now.plus(AHEAD);
  }

  Ledger bounded(Instant now) {
    return ledger.bounded(spec, now, level);
  }

  /** When the token of this index, from 0, of a step at {@code now} is due. */
  public Instant dueAt(Instant now, long index) {
    return bounded(now).dueAt(spec, index + 1);
  }

  /**
   * This bucket after a step of a fill at {@code now}, before which it held {@code found} tokens.
   */
  public Bucket filled(Ledger.Step step, long found, Instant now) {
    boolean owed = step.tokens() > 0 && !dueAt(now, 0).isAfter(now);
    boolean full = step.tokens() == 0 && found >= spec.capacity();
    return written(
        spec,
        step.after(),
        found + step.tokens(),
        minted + step.tokens(),
        owed || full ? Optional.empty() : emptyHint,
        fillState.inspected(full, now));
  }

  /** Whether a fill of {@code before} changed nothing but the versions. Then it needs no write. */
  public boolean differsOnlyInVersionFrom(Bucket before) {
    return ledger.equals(before.ledger)
        && level == before.level
        && fillState.equals(before.fillState)
        && emptyHint.equals(before.emptyHint);
  }

  /**
   * This bucket after some tokens of its last step could not be sent. It is owed them again, and
   * the next fill sends them.
   */
  public Bucket withUnsent(long tokens, Instant now) {
    Ledger owed = ledger.withUnsent(spec, now, tokens);
    return written(
        spec,
        owed,
        Math.max(0, level - tokens),
        Math.max(0, minted - tokens),
        emptyHint,
        fillState);
  }

  /**
   * The tokens in this bucket, corrected with its empty hint. The queue's count is up to a minute
   * old. If a claim found the bucket empty since, it holds at most the tokens that were due since
   * then, the pending ones, and those that other callers held and may have returned. The hint is
   * ignored for a minute after a change of the rate, because nothing records when the tokens
   * pending at that time appear. It is ignored if it is of the future, because no claim stored it.
   *
   * @param reported the count that the queue reports
   */
  public long levelAt(TokenQueue.Level reported, Instant now) {
    if (ledger instanceof CalendarLedger) {
      return hasVoidTokensAt(now) ? 0 : reported.tokens();
    }
    Instant settled = fillState.since().plus(AHEAD);
    return emptyHint
        .filter(seen -> !seen.since().isAfter(now.plus(SKEW)))
        .filter(seen -> seen.since().isAfter(settled) || !ledger.aheadFrom().isAfter(seen.since()))
        .map(
            seen ->
                Math.min(
                    reported.tokens(),
                    ledger.mintedAfter(spec, seen.since().minus(MAX_APPEARANCE_DELAY))
                        + seen.held()))
        .orElse(reported.tokens());
  }

  /**
   * The tokens beyond the capacity, which a fill removes. Programs that claim tokens may store
   * wrong empty hints, so the level is no less than the queue's count without one minute's tokens.
   * If all its tokens are void, see {@link #hasVoidTokensAt}, these are all that are visible.
   *
   * @param reported the count that the queue reports
   */
  public long surplusAt(TokenQueue.Level reported, Instant now) {
    if (ledger instanceof CalendarLedger counted) {
      return hasVoidTokensAt(now) ? reported.visible() : counted.excess(spec, now);
    }
    long least = reported.tokens() - spec.rate().ceiling();
    return Math.max(levelAt(reported, now), least) - spec.capacity();
  }

  /**
   * Whether all its tokens are void, because a period of its calendar or another calendar has begun
   * since the last fill.
   */
  public boolean hasVoidTokensAt(Instant now) {
    return ledger instanceof CalendarLedger counted && counted.hasMintedNoValidToken(spec, now);
  }

  /**
   * Whether more tokens were minted in the present period than its capacity, which was lowered. The
   * next fill removes those that are not spent yet.
   */
  public boolean exceedsCapacityAt(Instant now) {
    return ledger instanceof CalendarLedger counted && counted.excess(spec, now) > 0;
  }

  /**
   * When its period begins, by the clock of the process that filled it, if that is after {@code
   * now}.
   */
  public Optional<Instant> beginsAfter(Instant now) {
    return ledger instanceof CalendarLedger counted
        ? Optional.of(counted.since()).filter(now::isBefore)
        : Optional.empty();
  }

  /** The tokens that a fill at {@code now} removes if it counted a surplus. */
  public Predicate<Lease> surplusTokens(Instant now) {
    return hasVoidTokensAt(now) ? voidTokens(now) : lease -> true;
  }

  /**
   * The tokens of {@link #surplusTokens} that the surplus counts. If the capacity was lowered, void
   * tokens do not count.
   */
  public Predicate<Lease> countedSurplus(Instant now) {
    return exceedsCapacityAt(now) ? voidTokens(now).negate() : lease -> true;
  }

  /**
   * The most tokens that a fill at {@code now} removes before it writes the row. A crash must not
   * lose more of a period's tokens.
   */
  public long mostTrimmedAt(Instant now) {
    return exceedsCapacityAt(now) ? CalendarLedger.stepSize(spec) : Long.MAX_VALUE;
  }

  /** The void tokens at {@code now}: those of earlier periods. Claims do not accept them. */
  public Predicate<Lease> voidTokens(Instant now) {
    Instant validFrom = ledger.validFrom(spec, now);
    return lease -> lease.mintedAt().isBefore(validFrom);
  }

  /** This bucket after a fill removed some of its surplus, before the fill's first step. */
  public Bucket trimmed(long tokens, Instant now) {
    return new Bucket(
        id,
        spec,
        ledger.withTrimmed(spec, now, tokens),
        level,
        minted,
        mintedInFull,
        emptyHint,
        fillState,
        line,
        version,
        hintVersion);
  }

  /** This bucket after a claim stored this hint. */
  public Bucket with(EmptyHint found) {
    return new Bucket(
        id,
        spec,
        ledger,
        level,
        minted,
        mintedInFull,
        Optional.of(found),
        fillState,
        line,
        version,
        hintVersion);
  }

  /**
   * Whether prefetched tokens keep the bound until {@code end} if they were spent after this row
   * was read: until then, what the bucket held after its last fill and what it is owed are at most
   * its capacity and one minute's tokens.
   */
  public boolean keepsBoundUntil(Instant end) {
    return ledger.isOwedAtMost(
        spec, end, Math.subtractExact(spec.capacity(), level), MINUTE.toMillis());
  }

  /** Whether it was written since it was opened. Before, its queue may not exist. */
  public boolean hasBeenWritten() {
    return version > 0;
  }

  /** Whether this place was taken in the present line; it may be void. */
  public boolean hasIssued(Place place) {
    return line.filter(known -> known.epoch() == place.epoch())
        .filter(known -> place.number() <= known.issued())
        .isPresent();
  }

  /** Whether the token for a slot has not been minted. */
  public boolean owes(Instant slot) {
    return ledger.mintedThrough(spec).plus(MAX_APPEARANCE_DELAY).isBefore(slot);
  }

  /** The line after a place that is due found no token: its slot moves to {@code slot}. */
  public Optional<Line> lineMoved(Place place, Instant slot) {
    return line.map(known -> known.moved(place, spec.rate(), slot));
  }

  /**
   * The tokens that can be claimed now, as far as the queue's count, which may be old, and the
   * empty hint tell.
   */
  public long availableIn(TokenQueue.Level reported, Instant now) {
    long known = levelAt(reported, now) - reported.held() - reported.delayed();
    return Math.max(0, Math.min(known, reported.visible()));
  }

  /**
   * The line after a fill.
   *
   * @param available the tokens that could be claimed before the fill
   */
  public Optional<Line> lineCounted(long available, Instant now) {
    Instant next = ledger.dueAfter(spec, now, 1).plus(MAX_APPEARANCE_DELAY);
    return line.map(known -> known.counted(available, next, now));
  }

  /** This bucket with this line. */
  public Bucket with(Line next) {
    return new Bucket(
        id,
        spec,
        ledger,
        level,
        minted,
        mintedInFull,
        emptyHint,
        fillState,
        Optional.of(next),
        version,
        hintVersion);
  }

  /** What this row tells about an instant. */
  public Forecast at(Instant now) {
    return new Forecast(this, now);
  }

  /** Whether it hibernates. */
  public boolean isHibernating() {
    return fillState.state() == FillState.State.HIBERNATING;
  }

  /** Whether it has been full for as long as its fill policy requires before hibernation. */
  public boolean isDueToHibernateAt(Instant now) {
    return spec.mayHibernate()
        && fillState
            .fullSince()
            .map(since -> since.plus(Duration.ofMinutes(spec.fillPolicy().hibernateAfterMinutes())))
            .filter(until -> !until.isAfter(now))
            .isPresent();
  }

  /** Whether its last fill is so old that fills were lost. */
  public boolean isOverdueAt(Instant now) {
    return fillState.state() == FillState.State.PRODUCED
        && ledger.mintedThrough(spec).plus(OVERDUE).isBefore(now);
  }

  /**
   * How long its queue should keep tokens at {@code now}: the longest time that SQS allows, unless
   * tokens must expire to limit the level, see {@link DirectFill}.
   */
  public Duration tokenLifetimeAt(Instant now) {
    if (spec.fillPolicy().mode() != FillMode.DIRECT
        || fillState.state() == FillState.State.SUSPENDED) {
      return DirectFill.LONGEST_LIFETIME;
    }
    Duration lifetime = DirectFill.of(spec).lifetime();
    boolean ofAllAges =
        fillState.state() != FillState.State.PRODUCED
            || !now.isBefore(fillState.since().plus(lifetime));
    return ofAllAges ? lifetime : DirectFill.LONGEST_LIFETIME;
  }

  /**
   * Whether its queue may keep tokens for this long; any other lifetime is drift. While a bucket
   * changes to direct filling, or hibernates during that change, its queue may have the lifetime of
   * either fill mode: see {@link #tokenLifetimeAt}.
   */
  public boolean allowsTokenLifetime(Duration lifetime) {
    boolean shortened = spec.fillPolicy().mode() == FillMode.DIRECT;
    Duration shorter = shortened ? DirectFill.of(spec).lifetime() : DirectFill.LONGEST_LIFETIME;
    return switch (fillState.state()) {
      case SUSPENDED -> lifetime.equals(DirectFill.LONGEST_LIFETIME);
      case DIRECT -> lifetime.equals(shorter);
      case PRODUCED, HIBERNATING ->
          lifetime.equals(shorter) || lifetime.equals(DirectFill.LONGEST_LIFETIME);
    };
  }

  /**
   * Whether its fill policy requires direct filling and its schedule alone may fill it at {@code
   * now}: see {@link DirectFill}.
   */
  public boolean isReadyForDirectAt(Instant now) {
    if (spec.fillPolicy().mode() != FillMode.DIRECT
        || fillState.state() != FillState.State.PRODUCED) {
      return false;
    }
    Duration settling = DirectFill.of(spec).lifetime().plus(DirectFill.RETENTION_DELAY);
    return !now.isBefore(fillState.since().plus(settling));
  }

  /**
   * When the {@link Shard} maintains this bucket next: every minute, or at the start of the next
   * period, if the shard fills it; every {@code hibernateAfterMinutes} if its schedule fills it
   * directly; else never.
   */
  public Optional<Instant> shardDueAt() {
    FillPolicy filling = spec.fillPolicy();
    if (filling.mode() == FillMode.SHARED && fillState.state() == FillState.State.PRODUCED) {
      return Optional.of(
          spec.refill() instanceof Rate ? Instant.EPOCH : ledger.mintedThrough(spec));
    }
    return fillState.state() == FillState.State.DIRECT && spec.mayHibernate()
        ? Optional.of(fillState.since().plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
        : Optional.empty();
  }

  /** Whether both states need the same schedule. */
  public boolean hasSameScheduleAs(Bucket other) {
    boolean shared = spec.fillPolicy().mode() == FillMode.SHARED;
    return spec.equals(other.spec) && (shared || fillState.state() == other.fillState.state());
  }

  /**
   * Whether its tokens come all at once each minute. Tokens of a bucket with direct filling may
   * expire after a minute, so none of them is delayed.
   */
  boolean fillsOncePerMinute() {
    return spec.fillPolicy().mode() == FillMode.DIRECT;
  }
}
