package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * A bucket as it is written down: what it promises, what it has been given, and what is known of
 * its level. The tokens themselves lie in a {@link TokenQueue}.
 *
 * @param id whose it is, and what for
 * @param spec its rate and capacity
 * @param ledger what it has been given
 * @param level the tokens in it after the last fill, those on their way included
 * @param emptyHint what the last claim learned that found it empty, if one did since the last fill
 *     that brought tokens
 * @param fillState who keeps it filled
 * @param version counts the changes of what is written here, but for {@code emptiness}
 */
public record Bucket(
    BucketId id,
    BucketSpec spec,
    Ledger ledger,
    long level,
    Optional<EmptyHint> emptyHint,
    FillState fillState,
    long version) {
  /**
   * How much later than it is due a token may appear: SQS delays by whole seconds (SQS API
   * reference, SendMessage, {@code DelaySeconds}).
   */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final Duration MINUTE = Duration.ofMinutes(1);

  /**
   * How far ahead a fill mints: until the next one is due. If that comes late, a claim that finds
   * the bucket empty requests it. Fills that do not see each other's tokens exceed the capacity by
   * what is minted ahead, so that is no more than a minute's tokens.
   */
  private static final Duration AHEAD = MINUTE;

  /**
   * The longest that a bucket is taken to be empty without another look at its queue. A token that
   * is given back, or whose lease ends, appears without a word.
   */
  private static final Duration LONGEST_EMPTY = Duration.ofSeconds(10);

  /**
   * The same while tokens may appear at any time: others hold them and may give them back, or they
   * were minted ahead at another rate.
   */
  private static final Duration EMPTY_WHILE_TOKENS_MAY_APPEAR = Duration.ofSeconds(1);

  /**
   * The same of a bucket that is filled directly. Nobody knows at which second of its minute its
   * schedule fires.
   */
  private static final Duration EMPTY_WHILE_DIRECT = Duration.ofSeconds(5);

  /** When a queue that is missing may have been made again. */
  public static final Duration RECONCILE_TIME = Duration.ofMinutes(1);

  /** A fill that has not come for so long has been lost: a schedule fires once a minute. */
  private static final Duration OVERDUE = Duration.ofMinutes(3);

  /**
   * Checks the level.
   *
   * @throws InvalidValue if it is negative
   */
  public Bucket {
    InvalidValue.inRange("level", level, 0, Long.MAX_VALUE);
  }

  /** A bucket that is new at {@code now}: it is owed all that it can hold. */
  public static Bucket opened(BucketId id, BucketSpec spec, Instant now) {
    return new Bucket(
        id,
        spec,
        Ledger.opened(spec, now),
        0,
        Optional.empty(),
        FillState.entered(FillState.State.PRODUCED, now),
        0);
  }

  /**
   * A bucket whose row was broken, made anew at {@code now}. What its queue holds is counted by the
   * next fill; it is owed nothing, lest whoever can break a row have its bucket filled for that.
   */
  public static Bucket recreated(BucketId id, BucketSpec spec, Instant now) {
    return new Bucket(
        id,
        spec,
        Ledger.balanced(now),
        0,
        Optional.empty(),
        FillState.entered(FillState.State.PRODUCED, now),
        0);
  }

  /**
   * This bucket from {@code now} on with another rate, capacity, or way of being filled, or filled
   * again after it was not. What it is to hold has not changed, so neither does what it is owed: by
   * a schedule that fills it, nothing; nor anything while it was full.
   */
  public Bucket retuned(BucketSpec next, Instant now) {
    return entering(FillState.State.PRODUCED, next, now);
  }

  /** This bucket as one that is not filled from {@code now} on, because its tenant is suspended. */
  public Bucket suspended(BucketSpec next, Instant now) {
    return entering(FillState.State.SUSPENDED, next, now);
  }

  /** This bucket as one whose filling stops at {@code now}, when it has been full for long. */
  public Bucket hibernating(Instant now) {
    return entering(FillState.State.HIBERNATING, spec, now);
  }

  /** This bucket as one that its schedule alone fills from {@code now} on. */
  public Bucket direct(Instant now) {
    return entering(FillState.State.DIRECT, spec, now);
  }

  /** This bucket after a look at {@code now} that found so many tokens in it. */
  public Bucket inspected(long found, Instant now) {
    return new Bucket(
        id,
        spec,
        ledger,
        found,
        emptyHint,
        fillState.inspected(found >= spec.capacity(), now),
        version + 1);
  }

  private Bucket entering(FillState.State state, BucketSpec next, Instant now) {
    return new Bucket(
        id,
        next,
        switch (state) {
          case PRODUCED, SUSPENDED -> ledgerAt(now).retuned(spec, next, now);
          case DIRECT, HIBERNATING -> Ledger.balanced(now);
        },
        hasExpiredAt(now) ? 0 : level,
        Optional.empty(),
        FillState.entered(state, now),
        version + 1);
  }

  /**
   * What this bucket is owed at {@code now}. Its schedule sees to that if it is filled directly.
   * One that hibernates has been full until now, until its tokens expired; then it is owed its
   * capacity.
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
   * Whether nobody has filled this bucket for so long that its tokens may have expired. One that
   * hibernates was full for a while before, so its tokens are older than its sleep.
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
   * This bucket as one that is filled again from {@code now} on; its version is still the same.
   * While none of its tokens can have expired it is owed nothing: whatever it lacks has been
   * claimed just now.
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
        version);
  }

  /** Whether a claim must have it filled first: it hibernates, and its tokens may have expired. */
  public boolean needsWakingAt(Instant now) {
    return isHibernating() && hasExpiredAt(now);
  }

  /** The next step of a fill at {@code now}, when so many tokens are in this bucket. */
  public Ledger.Step step(Instant now, long found) {
    return bounded(now).step(spec, now, horizon(now), found);
  }

  private Instant horizon(Instant now) {
    return fillsOncePerMinute() ? now : now.plus(AHEAD);
  }

  private Ledger bounded(Instant now) {
    return ledger.bounded(spec, now, level);
  }

  /** When each token of a step that is taken at {@code now} is due, the earliest first. */
  public Instant dueAt(Instant now, long index) {
    return bounded(now).dueAt(spec.rate(), index + 1);
  }

  /**
   * This bucket after a step of a fill that was taken at {@code now}, when {@code found} tokens
   * were in it.
   */
  public Bucket filled(Ledger.Step step, long found, Instant now) {
    boolean owed = step.tokens() > 0 && !dueAt(now, 0).isAfter(now);
    boolean full = step.tokens() == 0 && found >= spec.capacity();
    return new Bucket(
        id,
        spec,
        step.after(),
        found + step.tokens(),
        owed || full ? Optional.empty() : emptyHint,
        fillState.inspected(full, now),
        version + 1);
  }

  /** Whether a fill that left {@code before} like this needs no write. */
  public boolean hasSameContentAs(Bucket before) {
    return ledger.equals(before.ledger)
        && level == before.level
        && fillState.equals(before.fillState)
        && emptyHint.equals(before.emptyHint);
  }

  /**
   * This bucket after some tokens of its last step have not been sent: they are owed again, and
   * come with the next fill.
   */
  public Bucket withUnsent(long tokens, Instant now) {
    return new Bucket(
        id,
        spec,
        ledger.withUnsent(spec.rate(), now, tokens),
        Math.max(0, level - tokens),
        emptyHint,
        fillState,
        version + 1);
  }

  /**
   * The tokens in this bucket, of which the queue says that there are so many. That is up to a
   * minute behind; but if a claim found the bucket empty, it holds no more than what was due since,
   * what is on its way, and what others held then and may have given back. When those appear that
   * were on their way as the rate changed is not known for a minute.
   */
  public long levelAt(TokenQueue.Level told) {
    Instant settled = fillState.since().plus(AHEAD);
    return emptyHint
        .filter(seen -> seen.since().isAfter(settled) || !ledger.aheadFrom().isAfter(seen.since()))
        .map(
            seen ->
                Math.min(
                    told.tokens(),
                    ledger.mintedAfter(spec.rate(), seen.since().minus(GRACE)) + seen.held()))
        .orElse(told.tokens());
  }

  /** The tokens that could be claimed at {@code now}, if none was claimed since the last fill. */
  public long availableAt(Instant now) {
    return isKnownEmptyAt(now)
        ? 0
        : Math.max(0, level - ledger.pendingAt(spec.rate(), now.minus(GRACE)));
  }

  /** Whether it is known at {@code now} that no token is to be had. */
  public boolean isKnownEmptyAt(Instant now) {
    return emptyUntil(now).isPresent();
  }

  /** Until when it is known at {@code now} that no token is to be had, if it is. */
  public Optional<Instant> emptyUntil(Instant now) {
    return emptyHint.map(EmptyHint::until).filter(now::isBefore);
  }

  /** What is to be remembered of this bucket, which was found empty while others held tokens. */
  public EmptyHint hintWhenEmpty(Instant now, long held) {
    boolean mayAppear = held > 0 || ledger.aheadFrom().isAfter(now);
    if (fillsOncePerMinute()) {
      Duration looks = mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : EMPTY_WHILE_DIRECT;
      return new EmptyHint(now, now.plus(looks), held);
    }
    Instant latest = now.plus(mayAppear ? EMPTY_WHILE_TOKENS_MAY_APPEAR : LONGEST_EMPTY);
    // A token that became due within the last second may be about to appear.
    Instant next = nextTokensAfter(now.minus(GRACE), now, 1);
    return new EmptyHint(now, next.isBefore(latest) ? next : latest, held);
  }

  /** What is to be remembered of this bucket, whose queue is missing; the next fill ends it. */
  public EmptyHint hintWhenQueueMissing(Instant now) {
    return new EmptyHint(now, now.plus(RECONCILE_TIME), 0);
  }

  /** Whether it has ever been filled; until then its queue may not be there. */
  public boolean hasBeenFilled() {
    return version > 0;
  }

  /**
   * Whether a claim that found it empty at {@code now} is to request a fill: nothing is on the way,
   * and the token producer fills it or would if it were awake.
   */
  public boolean needsFillAt(Instant now) {
    if (fillState.state() != FillState.State.PRODUCED) {
      return isHibernating();
    }
    return fillsOncePerMinute() ? isOverdueAt(now) : !ledger.mintedThrough().isAfter(now);
  }

  /** Whether it hibernates. */
  public boolean isHibernating() {
    return fillState.state() == FillState.State.HIBERNATING;
  }

  /**
   * Whether its filling may stop at {@code now}: it has stayed full for as long as its tier says.
   */
  public boolean isDueToHibernateAt(Instant now) {
    FillPolicy filling = spec.fillPolicy();
    return filling.mayHibernate()
        && fillState
            .fullSince()
            .map(since -> since.plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
            .filter(until -> !until.isAfter(now))
            .isPresent();
  }

  /** Whether a fill should have come long before {@code now}, and did not. */
  public boolean isOverdueAt(Instant now) {
    return fillState.state() == FillState.State.PRODUCED
        && ledger.mintedThrough().plus(OVERDUE).isBefore(now);
  }

  /**
   * For how long its queue is to keep tokens, at {@code now}: as long as can be, unless they are to
   * expire, see {@link DirectFill}.
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
   * Whether its queue may be found to keep tokens for so long. While a bucket is on its way to
   * being filled directly, or has gone to sleep on it, its queue may have been told of the shorter
   * time already, or not yet: see {@link #tokenLifetimeAt}.
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

  /** Whether its schedule alone may fill it at {@code now}, as is asked: see {@link DirectFill}. */
  public boolean isReadyForDirectAt(Instant now) {
    if (spec.fillPolicy().mode() != FillMode.DIRECT
        || fillState.state() != FillState.State.PRODUCED) {
      return false;
    }
    Duration settling = DirectFill.of(spec).lifetime().plus(DirectFill.RETENTION_DELAY);
    return !now.isBefore(fillState.since().plus(settling));
  }

  /**
   * When its {@link Shard} is to look at it next, if at all: every minute at buckets that it fills,
   * now and then at those that nobody else looks at.
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

  /** Whether the same schedule fills both buckets. */
  public boolean hasSameScheduleAs(Bucket other) {
    boolean shared = spec.fillPolicy().mode() == FillMode.SHARED;
    return spec.equals(other.spec) && (shared || fillState.state() == other.fillState.state());
  }

  /** When a bucket that is empty at {@code now} has its next token, as far as is known. */
  public Instant nextTokenAt(Instant now) {
    return nextTokensAt(now, 1);
  }

  /**
   * When a bucket that is empty at {@code now} will have been given so many tokens. Where a
   * schedule fills the bucket by itself, nobody knows the second at which it fires; but within any
   * minute it fires once.
   *
   * @param tokens 1 or more; more than the capacity counts as the capacity
   */
  public Instant nextTokensAt(Instant now, long tokens) {
    long n = Math.min(InvalidValue.inRange("tokens", tokens, 1, Long.MAX_VALUE), spec.capacity());
    if (fillState.state() == FillState.State.DIRECT) {
      long fills = -Math.floorDiv(-n, (long) DirectFill.of(spec).tokens());
      return now.plus(MINUTE.multipliedBy(fills)).plus(GRACE);
    }
    // Nobody has taken a token since the bucket was found empty, if that still holds.
    Instant taken =
        emptyHint.filter(seen -> now.isBefore(seen.until())).map(EmptyHint::since).orElse(now);
    Instant next = nextTokensAfter(taken.isBefore(now) ? taken : now, now, n);
    Instant exact = fillsOncePerMinute() ? next.plus(MINUTE) : next;
    return emptyUntil(now).filter(exact::isBefore).orElse(exact);
  }

  /** When the n-th token will have come that had not become due at {@code appeared}. */
  private Instant nextTokensAfter(Instant appeared, Instant now, long n) {
    Ledger awake = isHibernating() ? woken(now).ledger() : bounded(now);
    Instant due = awake.dueAfter(spec.rate(), appeared, n);
    boolean isOnItsWay = n <= awake.pendingAt(spec.rate(), appeared);
    return (isOnItsWay || due.isAfter(now) ? due : now).plus(GRACE);
  }

  /**
   * Whether its tokens come once a minute. Those of a bucket that is to be filled directly last for
   * a minute, so none of them is hidden for a part of it.
   */
  private boolean fillsOncePerMinute() {
    return spec.fillPolicy().mode() == FillMode.DIRECT;
  }
}
