package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/**
 * The stored state of a bucket. Its tokens are in a {@link TokenQueue}.
 *
 * @param id the tenant and the action
 * @param spec rate, capacity and fill policy
 * @param ledger which tokens have been minted and which are owed
 * @param level the tokens in the bucket after the last fill, including pending ones
 * @param emptyHint what the last claim that found the bucket empty observed; empty if a fill has
 *     added tokens since
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
    Optional<EmptyHint> emptyHint,
    FillState fillState,
    Optional<Line> line,
    long version,
    long hintVersion) {
  /**
   * The longest time between the due time of a token and its appearance: SQS delays by whole
   * seconds (SQS API reference, SendMessage, {@code DelaySeconds}).
   */
  private static final Duration MAX_APPEARANCE_DELAY = Duration.ofSeconds(1);

  private static final Duration MINUTE = Duration.ofMinutes(1);

  /**
   * How far ahead a fill mints: until the next fill is due. If the next fill is late, a claim that
   * finds the bucket empty requests it. Concurrent fills that do not see each other's tokens exceed
   * the capacity by the tokens minted ahead, which are one minute's tokens at most.
   */
  private static final Duration AHEAD = MINUTE;

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

  /**
   * The time after which a caller retries that SQS told of no queue for a new bucket. SQS may not
   * know a queue in its first second (SQS API reference, CreateQueue).
   */
  public static final Duration QUEUE_DELAY = Duration.ofSeconds(1);

  /** How long after it was opened a bucket counts as new: its queue is created meanwhile. */
  private static final Duration NEW = Duration.ofSeconds(5);

  /** The time in which the sweep recreates a missing queue. */
  public static final Duration RECONCILE_TIME = Duration.ofMinutes(1);

  /** The clocks of two processes differ by less. */
  private static final Duration SKEW = Duration.ofSeconds(5);

  /** How far ahead a hint may end. Claims store hints of {@link #RECONCILE_TIME} at most. */
  private static final Duration LONGEST_HINT = RECONCILE_TIME.plus(SKEW);

  /**
   * How much farther ahead a slot may be than the tokens of a full line at the present rate,
   * because it was told at another rate. A line beyond that is wrong, and counts as absent.
   */
  private static final Duration LONGEST_WAIT = Duration.ofDays(1);

  /** A fill that is this late was lost, because schedules fire once a minute. */
  private static final Duration OVERDUE = Duration.ofMinutes(3);

  /**
   * Checks the level.
   *
   * @throws InvalidValue if it is negative
   */
  public Bucket {
    InvalidValue.inRange("level", level, 0, Long.MAX_VALUE);
  }

  /** A bucket without a line. */
  public Bucket(
      BucketId id,
      BucketSpec spec,
      Ledger ledger,
      long level,
      Optional<EmptyHint> emptyHint,
      FillState fillState,
      long version) {
    this(id, spec, ledger, level, emptyHint, fillState, Optional.empty(), version, 0);
  }

  /** A new bucket, which is owed its capacity. */
  public static Bucket opened(BucketId id, BucketSpec spec, Instant now) {
    return opened(id, spec, Ledger.opened(spec, now), now);
  }

  /**
   * A bucket that replaces an unreadable row. The next fill counts the tokens in its queue. It is
   * owed nothing, so that breaking a row does not fill its bucket.
   */
  public static Bucket recreated(BucketId id, BucketSpec spec, Instant now) {
    return opened(id, spec, Ledger.balanced(now), now);
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
        ? written(next, ledger, level, emptyHint, fillState)
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
    return written(spec, ledger, found, emptyHint, seen);
  }

  private Bucket entering(FillState.State state, BucketSpec next, Instant now) {
    Ledger entered =
        switch (state) {
          case PRODUCED, SUSPENDED -> ledgerAt(now).retuned(spec, next, now);
          case DIRECT, HIBERNATING -> Ledger.balanced(now);
        };
    return written(
        next,
        entered,
        hasExpiredAt(now) ? 0 : level,
        Optional.empty(),
        FillState.entered(state, now));
  }

  /** This bucket after another write. */
  private Bucket written(
      BucketSpec next, Ledger owed, long held, Optional<EmptyHint> hint, FillState state) {
    return new Bucket(id, next, owed, held, hint, state, line, version + 1, hintVersion + 1);
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
      case DIRECT, HIBERNATING -> Ledger.balanced(now);
    };
  }

  /**
   * Whether nothing has filled this bucket for so long that its tokens may have expired. The tokens
   * of a hibernating bucket are older than its hibernation, because it was full for a while before.
   */
  private boolean hasExpiredAt(Instant now) {
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
   * expired it is owed nothing, because its missing tokens were claimed just now.
   */
  public Bucket woken(Instant now) {
    boolean expired = hasExpiredAt(now);
    Instant seen = emptyHint.map(EmptyHint::since).filter(now::isAfter).orElse(now);
    return new Bucket(
        id,
        spec,
        expired ? Ledger.opened(spec, now) : Ledger.balanced(seen),
        expired ? 0 : level,
        expired ? Optional.empty() : emptyHint,
        FillState.entered(FillState.State.PRODUCED, now),
        line,
        version,
        hintVersion);
  }

  /**
   * Whether a claim must wait for a fill: the bucket hibernates and its tokens may have expired.
   */
  public boolean needsWakingAt(Instant now) {
    return isHibernating() && hasExpiredAt(now);
  }

  /** The next step of a fill at {@code now}, when the bucket holds {@code found} tokens. */
  public Ledger.Step step(Instant now, long found) {
    return bounded(now).step(spec, now, horizon(now), found);
  }

  private Instant horizon(Instant now) {
    return fillsOncePerMinute() ? now : now.plus(AHEAD);
  }

  private Ledger bounded(Instant now) {
    return ledger.bounded(spec, now, level);
  }

  /** When the token of this index, from 0, of a step at {@code now} is due. */
  public Instant dueAt(Instant now, long index) {
    return bounded(now).dueAt(spec.rate(), index + 1);
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
        owed || full ? Optional.empty() : emptyHint,
        fillState.inspected(full, now));
  }

  /**
   * Whether this state equals {@code before}, apart from the versions. A fill then needs no write.
   */
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
    Ledger owed = ledger.withUnsent(spec.rate(), now, tokens);
    return written(spec, owed, Math.max(0, level - tokens), emptyHint, fillState);
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
    Instant settled = fillState.since().plus(AHEAD);
    return emptyHint
        .filter(seen -> !seen.since().isAfter(now.plus(SKEW)))
        .filter(seen -> seen.since().isAfter(settled) || !ledger.aheadFrom().isAfter(seen.since()))
        .map(
            seen ->
                Math.min(
                    reported.tokens(),
                    ledger.mintedAfter(spec.rate(), seen.since().minus(MAX_APPEARANCE_DELAY))
                        + seen.held()))
        .orElse(reported.tokens());
  }

  /**
   * The tokens beyond the capacity, which a fill removes. Programs that claim tokens may store
   * wrong empty hints, so the level is no less than the queue's count without one minute's tokens.
   *
   * @param reported the count that the queue reports
   */
  public long surplusAt(TokenQueue.Level reported, Instant now) {
    long least = reported.tokens() - spec.rate().ceiling();
    return Math.max(levelAt(reported, now), least) - spec.capacity();
  }

  /** The tokens that can be claimed at {@code now}, if none was claimed since the last fill. */
  public long availableAt(Instant now) {
    return isKnownEmptyAt(now)
        ? 0
        : Math.max(0, level - ledger.pendingAt(spec.rate(), now.minus(MAX_APPEARANCE_DELAY)));
  }

  /** Whether the bucket is known to be empty at {@code now}. */
  public boolean isKnownEmptyAt(Instant now) {
    return emptyUntil(now).isPresent();
  }

  /** The instant until which the bucket is known to be empty; empty if it is not known to be. */
  public Optional<Instant> emptyUntil(Instant now) {
    return validHint(now).map(EmptyHint::until);
  }

  /** The hint, unless it has ended, or ends later than any that a claim stores. */
  private Optional<EmptyHint> validHint(Instant now) {
    return emptyHint
        .filter(seen -> now.isBefore(seen.until()))
        .filter(seen -> !seen.until().isAfter(now.plus(LONGEST_HINT)));
  }

  /**
   * The hint to store after a claim found this bucket empty.
   *
   * @param held the tokens that other callers hold
   */
  public EmptyHint hintWhenEmpty(Instant now, long held) {
    boolean mayAppear = held > 0 || ledger.aheadFrom().isAfter(now);
    if (fillsOncePerMinute()) {
      Duration unknown = mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : EMPTY_WHILE_DIRECT;
      return new EmptyHint(now, now.plus(unknown), held);
    }
    Instant latest = now.plus(mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : LONGEST_EMPTY);
    // A token that became due within the last second may not have appeared yet.
    Instant next = nextTokensAfter(now.minus(MAX_APPEARANCE_DELAY), now, 1);
    return new EmptyHint(now, next.isBefore(latest) ? next : latest, held);
  }

  /** This bucket after a claim stored this hint. */
  public Bucket with(EmptyHint found) {
    return new Bucket(
        id, spec, ledger, level, Optional.of(found), fillState, line, version, hintVersion);
  }

  /**
   * Whether tokens may be taken ahead of the claims that they are for: the bucket is at least half
   * full and the token producer fills it, and nobody waits in line.
   */
  public boolean allowsPrefetchAt(Instant now) {
    return fillState.state() == FillState.State.PRODUCED
        && !fillsOncePerMinute()
        && !hasLineAt(now)
        && 2 * availableAt(now) >= spec.capacity();
  }

  /**
   * Whether prefetched tokens keep the bound until {@code end} if they were spent after this row
   * was read: until then, what the bucket held after its last fill and what it is owed are at most
   * its capacity and one minute's tokens.
   */
  public boolean keepsBoundUntil(Instant end) {
    return ledger.isOwedAtMost(
        spec.rate(), end, Math.subtractExact(spec.capacity(), level), MINUTE.toMillis());
  }

  /** Whether SQS may not know the queue yet, because this bucket was opened a moment ago. */
  public boolean mayLackQueueAt(Instant now) {
    return now.isBefore(fillState.since().plus(NEW));
  }

  /** The hint to store after a claim found no queue. The next fill removes it. */
  public EmptyHint hintWhenQueueMissing(Instant now) {
    return new EmptyHint(now, now.plus(RECONCILE_TIME), 0);
  }

  /** Whether it has ever been filled. Before the first fill its queue may not exist. */
  public boolean hasBeenFilled() {
    return version > 0;
  }

  /**
   * Whether a claim that found it empty at {@code now} must request a fill: no token is pending,
   * and the token producer fills the bucket or would do so if it were awake.
   */
  public boolean needsFillAt(Instant now) {
    if (fillState.state() != FillState.State.PRODUCED) {
      return isHibernating();
    }
    return fillsOncePerMinute()
        ? isOverdueAt(now)
        : !ledger.mintedThrough().isAfter(hasLineAt(now) ? now.plus(spec.lineLead()) : now);
  }

  /**
   * The line, if anybody waits in it at {@code now}, see {@link Line}. Nobody waits while the line
   * is switched off. A line is ignored if its last slot is later than any slot that Tollgate
   * issues; the next refused caller then opens a new line.
   */
  public Optional<Line> liveLineAt(Instant now) {
    return openLine(now).filter(known -> known.isLiveAt(now));
  }

  /** How many callers wait in line at {@code now} for their slots to come. */
  public long waitingAt(Instant now) {
    return liveLineAt(now).map(known -> known.ahead(known.extended().last(), now)).orElse(0L);
  }

  /**
   * How long a new caller at {@code now} waits for its slot in line; zero if nobody waits or a
   * token is spare.
   */
  public Duration lineWaitAt(Instant now) {
    return liveLineAt(now)
        .filter(known -> known.spare() == 0)
        .map(known -> Duration.between(now, known.slot(known.nextNumber(now))))
        .filter(wait -> !wait.isNegative())
        .orElse(Duration.ZERO);
  }

  private Optional<Line> openLine(Instant now) {
    Instant latest = now.plus(Line.span(spec.rate(), Line.MAX_FREED)).plus(LONGEST_WAIT);
    return line.filter(known -> spec.keepsLine())
        .filter(known -> !known.slot(known.issued() + 1).isAfter(latest));
  }

  private boolean hasLineAt(Instant now) {
    return liveLineAt(now).isPresent();
  }

  /** The state of a place at {@code now}. */
  public Line.Standing standing(Place place, Instant now) {
    return openLine(now).map(known -> known.standing(place, now)).orElse(Line.Standing.VOID);
  }

  /** Whether this place was taken in the present line; it may be void. */
  public boolean hasIssued(Place place) {
    return line.filter(known -> known.epoch() == place.epoch())
        .filter(known -> place.number() <= known.issued())
        .isPresent();
  }

  /**
   * When n callers that keep no place may claim, if nobody else joins the line: the slots after the
   * last one have come, and the last place is no longer due. Empty if nobody waits.
   */
  public Optional<Instant> lineEndsAt(Instant now, long n) {
    return liveLineAt(now)
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
  public Line lineOpened(Instant slot, Instant now) {
    Instant due = firstDueBefore(slot, now);
    long epoch = line.map(known -> known.epoch() + 1).orElse(now.getEpochSecond());
    Set<Place> freed = line.map(Line::freed).orElse(Set.of());
    return Line.opened(epoch, spec.rate(), due, slot, now).withFreed(freed);
  }

  /**
   * When the next token after {@code now} appears if fills are punctual. Owed tokens are sent
   * together, as many as the bucket can hold. If it is full then, the token after them is due a
   * token's time after the fill.
   */
  private Instant firstDueBefore(Instant slot, Instant now) {
    if (fillsOncePerMinute()) {
      return slot;
    }
    Ledger awake = isHibernating() ? woken(now).ledger() : bounded(now);
    Instant due = awake.dueAfter(spec.rate(), now, 1).plus(MAX_APPEARANCE_DELAY);
    Instant full =
        slot.plus(MAX_APPEARANCE_DELAY).minus(Line.span(spec.rate(), spec.capacity() - 1));
    if (needsFillAt(now) && due.isBefore(full)) {
      return full;
    }
    return due.isBefore(slot) ? due : slot;
  }

  /** The line after the bucket's rate was changed; empty if the line has this rate. */
  public Optional<Line> lineRetuned(Instant now) {
    Instant through = ledger.mintedThrough().plus(MAX_APPEARANCE_DELAY);
    return line.filter(known -> !known.rate().equals(spec.rate()))
        .filter(known -> !known.mustKeepRate(spec.rate(), now))
        .map(known -> known.retuned(spec.rate(), through, nextTokenAt(now)));
  }

  /** Whether the token for a slot has not been minted. */
  public boolean owes(Instant slot) {
    return ledger.mintedThrough().plus(MAX_APPEARANCE_DELAY).isBefore(slot);
  }

  /** The first slot after {@code now} behind a place, if its token has been minted. */
  public Optional<Instant> nextMintedSlot(Place place, Instant now) {
    return line.map(known -> known.nextSlot(place, now)).filter(slot -> !owes(slot));
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
    Instant next = ledger.dueAfter(spec.rate(), now, 1).plus(MAX_APPEARANCE_DELAY);
    return line.map(known -> known.counted(available, next, now));
  }

  /** This bucket with this line. */
  public Bucket with(Line next) {
    return new Bucket(
        id, spec, ledger, level, emptyHint, fillState, Optional.of(next), version, hintVersion);
  }

  /** Whether it hibernates. */
  public boolean isHibernating() {
    return fillState.state() == FillState.State.HIBERNATING;
  }

  /** Whether it has been full for as long as its fill policy requires before hibernation. */
  public boolean isDueToHibernateAt(Instant now) {
    FillPolicy filling = spec.fillPolicy();
    return filling.mayHibernate()
        && fillState
            .fullSince()
            .map(since -> since.plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
            .filter(until -> !until.isAfter(now))
            .isPresent();
  }

  /** Whether its last fill is so old that fills were lost. */
  public boolean isOverdueAt(Instant now) {
    return fillState.state() == FillState.State.PRODUCED
        && ledger.mintedThrough().plus(OVERDUE).isBefore(now);
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
   * When the {@link Shard} maintains this bucket next: every minute if the shard fills it; every
   * {@code hibernateAfterMinutes} if its schedule fills it directly; else never.
   */
  public Optional<Instant> shardDueAt() {
    FillPolicy filling = spec.fillPolicy();
    if (filling.mode() == FillMode.SHARED && fillState.state() == FillState.State.PRODUCED) {
      return Optional.of(Instant.EPOCH);
    }
    return fillState.state() == FillState.State.DIRECT && filling.mayHibernate()
        ? Optional.of(fillState.since().plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
        : Optional.empty();
  }

  /** Whether both states need the same schedule. */
  public boolean hasSameScheduleAs(Bucket other) {
    boolean shared = spec.fillPolicy().mode() == FillMode.SHARED;
    return spec.equals(other.spec) && (shared || fillState.state() == other.fillState.state());
  }

  /** When a bucket that is empty at {@code now} gets its next token, as far as is known. */
  public Instant nextTokenAt(Instant now) {
    return nextTokensAt(now, 1);
  }

  /**
   * When a bucket that is empty at {@code now} will have received this many tokens. If its schedule
   * fills it directly, the second at which it fires is unknown, but it fires once within any
   * minute.
   *
   * @param tokens 1 or more; more than the capacity counts as the capacity
   */
  public Instant nextTokensAt(Instant now, long tokens) {
    long n = Math.min(InvalidValue.inRange("tokens", tokens, 1, Long.MAX_VALUE), spec.capacity());
    if (fillState.state() == FillState.State.DIRECT) {
      long fills = -Math.floorDiv(-n, (long) DirectFill.of(spec).tokens());
      return now.plus(MINUTE.multipliedBy(fills)).plus(MAX_APPEARANCE_DELAY);
    }
    // No token was claimed since the bucket was found empty, if the hint is still valid.
    Instant taken = validHint(now).map(EmptyHint::since).orElse(now);
    Instant next = nextTokensAfter(taken.isBefore(now) ? taken : now, now, n);
    Instant exact = fillsOncePerMinute() ? next.plus(MINUTE) : next;
    return emptyUntil(now).filter(exact::isBefore).orElse(exact);
  }

  /** When the n-th token that is due after {@code appeared} becomes visible. */
  private Instant nextTokensAfter(Instant appeared, Instant now, long n) {
    Ledger awake = isHibernating() ? woken(now).ledger() : bounded(now);
    Instant due = awake.dueAfter(spec.rate(), appeared, n);
    boolean isOnItsWay = n <= awake.pendingAt(spec.rate(), appeared);
    return (isOnItsWay || due.isAfter(now) ? due : now).plus(MAX_APPEARANCE_DELAY);
  }

  /**
   * Whether its tokens come all at once each minute. Tokens of a bucket with direct filling may
   * expire after a minute, so none of them is delayed.
   */
  private boolean fillsOncePerMinute() {
    return spec.fillPolicy().mode() == FillMode.DIRECT;
  }
}
