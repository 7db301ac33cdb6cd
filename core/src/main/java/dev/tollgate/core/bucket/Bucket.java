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
 * @param drip the tokens that the last fill spread over its minute
 * @param level the tokens in it after the last fill
 * @param emptyUntil until when it is known to be empty, if it is
 * @param upkeep who keeps it filled
 * @param version counts the changes of what is written here, but for {@code emptyUntil}
 */
public record Bucket(
    BucketId id,
    BucketSpec spec,
    Ledger ledger,
    Drip drip,
    long level,
    Optional<Instant> emptyUntil,
    Upkeep upkeep,
    long version) {
  /**
   * How much later than announced a token may be had: EventBridge Scheduler and SQS keep whole
   * seconds.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html">Schedule
   *     types</a>
   */
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final Duration MINUTE = Duration.ofMinutes(1);

  /**
   * For how long a bucket that is filled directly is taken to be empty. Nobody knows at which
   * second of its minute its schedule fires, so it must be asked again soon.
   */
  private static final Duration DOUBT = Duration.ofSeconds(5);

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
        new Drip(now, 0, Duration.ZERO),
        0,
        Optional.empty(),
        Upkeep.entered(Upkeep.State.PRODUCED, now),
        0);
  }

  /**
   * This bucket from {@code now} on with another rate, capacity, or way of being filled, or filled
   * again after it was not. What it is to hold has not changed, so neither does what it is owed: by
   * a schedule that fills it, nothing; nor anything while it was full.
   */
  public Bucket retuned(BucketSpec next, Instant now) {
    return entering(
        Upkeep.State.PRODUCED,
        next,
        keepsItsTokensAt(now) ? Ledger.even(now) : ledger.retuned(spec, next, now),
        now);
  }

  /** This bucket as one that is not filled from {@code now} on, because its tenant is suspended. */
  public Bucket suspended(BucketSpec next, Instant now) {
    return entering(Upkeep.State.SUSPENDED, next, retuned(next, now).ledger, now);
  }

  /** This bucket as one whose filling stops at {@code now}, when it has been full for long. */
  public Bucket hibernating(Instant now) {
    boolean direct = upkeep.state() == Upkeep.State.DIRECT;
    return entering(Upkeep.State.HIBERNATING, spec, direct ? Ledger.even(now) : ledger, now);
  }

  /** This bucket as one that its schedule alone fills from {@code now} on. */
  public Bucket direct(Instant now) {
    return entering(Upkeep.State.DIRECT, spec, Ledger.even(now), now);
  }

  /** This bucket after a look at {@code now} that found so many tokens in it. */
  public Bucket seen(long found, Instant now) {
    return new Bucket(
        id,
        spec,
        ledger,
        drip,
        found,
        emptyUntil,
        upkeep.found(found >= spec.capacity(), now),
        version + 1);
  }

  private Bucket entering(Upkeep.State state, BucketSpec next, Ledger after, Instant now) {
    return new Bucket(
        id, next, after, drip, level, Optional.empty(), Upkeep.entered(state, now), version + 1);
  }

  /**
   * Whether the bucket has what it had when nobody but the producer filled it last: because its
   * schedule sees to that, or because it hibernates and its tokens have not expired.
   */
  private boolean keepsItsTokensAt(Instant now) {
    return switch (upkeep.state()) {
      case PRODUCED, SUSPENDED -> false;
      case DIRECT -> true;
      case HIBERNATING -> now.isBefore(upkeep.since().plus(lifetimeAt(upkeep.since())));
    };
  }

  /**
   * This bucket as one that is filled again from {@code now} on; its version is still the same.
   * What it is owed until then is carried, so that whoever reads it next finds it awake and not
   * overdue.
   */
  Bucket awake(Instant now) {
    return new Bucket(
        id,
        spec,
        ledger.retuned(spec, spec, now),
        drip,
        level,
        Optional.empty(),
        Upkeep.entered(Upkeep.State.PRODUCED, now),
        version);
  }

  /**
   * This bucket after a step of a fill that was taken at {@code now}, when {@code level} tokens
   * were in it.
   */
  Bucket filled(Ledger.Step step, long level, Instant now) {
    return new Bucket(
        id,
        spec,
        step.after(),
        step.complete() && (step.fresh() > 0 || drip.isOverAt(now))
            ? drip.next(step.after().filledThrough(), now, step.fresh())
            : drip,
        level + step.tokens(),
        step.tokens() > 0 ? Optional.empty() : emptyUntil,
        upkeep.found(step.tokens() == 0 && level >= spec.capacity(), now),
        version + 1);
  }

  /**
   * The tokens in this bucket at {@code now}, of which the queue says that there are so many. That
   * is up to a minute behind; but if somebody found the bucket empty since the last fill, it holds
   * no more than what has not appeared yet, and what others held then and may give back.
   */
  long levelAt(Instant now, TokenQueue.Level told) {
    boolean seenEmpty = emptyUntil.isPresent() && emptyUntil.get().isAfter(drip.startedAt());
    return seenEmpty
        ? Math.min(told.tokens(), drip.tokens() - drip.appearedAt(now) + told.held())
        : told.tokens();
  }

  /** Whether it is known at {@code now} that no token is to be had. */
  public boolean knownEmptyAt(Instant now) {
    return emptyUntil.isPresent() && now.isBefore(emptyUntil.get());
  }

  /** Whether it hibernates. */
  public boolean hibernates() {
    return upkeep.state() == Upkeep.State.HIBERNATING;
  }

  /**
   * Whether its filling may stop at {@code now}: it has stayed full for as long as its tier says.
   */
  public boolean mayHibernateAt(Instant now) {
    Filling filling = spec.filling();
    return filling.mayStop()
        && upkeep
            .fullSince()
            .map(since -> since.plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
            .filter(until -> !until.isAfter(now))
            .isPresent();
  }

  /** Whether a fill should have come long before {@code now}, and did not. */
  public boolean isOverdueAt(Instant now) {
    return upkeep.state() == Upkeep.State.PRODUCED
        && ledger.filledThrough().plus(OVERDUE).isBefore(now);
  }

  /**
   * For how long its queue is to keep tokens, at {@code now}: as long as can be, unless they are to
   * expire, see {@link DirectFill}.
   */
  public Duration lifetimeAt(Instant now) {
    if (spec.filling().mode() != FillMode.DIRECT || upkeep.state() == Upkeep.State.SUSPENDED) {
      return DirectFill.LONGEST_LIFETIME;
    }
    Duration lifetime = DirectFill.of(spec).lifetime();
    boolean ofAllAges =
        upkeep.state() != Upkeep.State.PRODUCED || !now.isBefore(upkeep.since().plus(lifetime));
    return ofAllAges ? lifetime : DirectFill.LONGEST_LIFETIME;
  }

  /**
   * Whether its queue may be found to keep tokens for so long. While a bucket is on its way to
   * being filled directly, or has gone to sleep on it, its queue may have been told of the shorter
   * time already, or not yet: see {@link #lifetimeAt}.
   */
  public boolean mayKeepFor(Duration lifetime) {
    boolean shortened = spec.filling().mode() == FillMode.DIRECT;
    Duration shorter = shortened ? DirectFill.of(spec).lifetime() : DirectFill.LONGEST_LIFETIME;
    return switch (upkeep.state()) {
      case SUSPENDED -> lifetime.equals(DirectFill.LONGEST_LIFETIME);
      case DIRECT -> lifetime.equals(shorter);
      case PRODUCED, HIBERNATING ->
          lifetime.equals(shorter) || lifetime.equals(DirectFill.LONGEST_LIFETIME);
    };
  }

  /** Whether its schedule alone may fill it at {@code now}, as is asked: see {@link DirectFill}. */
  public boolean mayBeDirectAt(Instant now) {
    if (spec.filling().mode() != FillMode.DIRECT || upkeep.state() != Upkeep.State.PRODUCED) {
      return false;
    }
    Duration settling = DirectFill.of(spec).lifetime().plus(DirectFill.RETENTION_DELAY);
    return !now.isBefore(upkeep.since().plus(settling));
  }

  /**
   * When its {@link Shard} is to look at it next, if at all: every minute at buckets that it fills,
   * now and then at those that nobody else looks at.
   */
  public Optional<Instant> turnAt() {
    Filling filling = spec.filling();
    if (filling.mode() == FillMode.SHARED && upkeep.state() == Upkeep.State.PRODUCED) {
      return Optional.of(Instant.EPOCH);
    }
    return upkeep.state() == Upkeep.State.DIRECT && filling.mayStop()
        ? Optional.of(upkeep.since().plus(Duration.ofMinutes(filling.hibernateAfterMinutes())))
        : Optional.empty();
  }

  /** Whether the same schedule fills both buckets. */
  public boolean isScheduledLike(Bucket other) {
    boolean shared = spec.filling().mode() == FillMode.SHARED;
    return spec.equals(other.spec) && (shared || upkeep.state() == other.upkeep.state());
  }

  /** Until when a bucket that was found empty at {@code now} is to be taken for that. */
  public Instant emptyFrom(Instant now) {
    return upkeep.state() == Upkeep.State.DIRECT ? now.plus(DOUBT) : nextTokenAt(now);
  }

  /** When a bucket that is empty at {@code now}, or known to be, has its next token. */
  public Instant retryAt(Instant now) {
    return upkeep.state() != Upkeep.State.DIRECT && knownEmptyAt(now)
        ? emptyUntil.orElseThrow()
        : nextTokenAt(now);
  }

  /** When a bucket that is empty at {@code now} has its next token, as far as is known. */
  public Instant nextTokenAt(Instant now) {
    return nextTokensAt(now, 1);
  }

  /**
   * When a bucket that is empty at {@code now} will have been given so many tokens: the next ones
   * of the drip, then those of the fills to come. Fills come once a minute, as long after the full
   * minute as the last one did: a schedule fires at some second of its minute, and keeps to it.
   * Where a schedule fills the bucket by itself, nobody knows that second; but within any minute it
   * fires once.
   *
   * @param tokens at least 1
   */
  public Instant nextTokensAt(Instant now, long tokens) {
    if (upkeep.state() == Upkeep.State.DIRECT) {
      long fills = -Math.floorDiv(-tokens, (long) DirectFill.of(spec).tokens());
      return now.plus(MINUTE.multipliedBy(fills)).plus(GRACE);
    }
    long appeared = drip.appearedAt(now);
    long dripping = drip.tokens() - appeared;
    return tokens <= dripping
        ? drip.appearsAt(appeared + tokens - 1).plus(GRACE)
        : fillOf(tokens - dripping, now).plus(GRACE);
  }

  /**
   * When the last of so many tokens appears that fills are to bring. A fill spreads what it brings
   * over a minute, but for what is older than that, which comes sooner.
   */
  private Instant fillOf(long tokens, Instant now) {
    Instant first = ceilingMinute(ledger.dueAt(spec.rate(), 1)).plus(drip.lag());
    long missed = first.isAfter(now) ? 0 : Duration.between(first, now).toMinutes() + 1;
    Instant fill = ceilingMinute(ledger.dueAt(spec.rate(), tokens));
    Instant filled = fill.plus(drip.lag()).plus(MINUTE.multipliedBy(missed));
    long older = ledger.dueBy(spec.rate(), fill.minus(MINUTE));
    if (tokens <= older) {
      return filled;
    }
    long brought = ledger.dueBy(spec.rate(), fill) - older;
    return new Drip(filled, brought, drip.lag()).appearsAt(tokens - older - 1);
  }

  private static Instant ceilingMinute(Instant instant) {
    long minute = MINUTE.toMillis();
    return Instant.ofEpochMilli(-Math.floorDiv(-instant.toEpochMilli(), minute) * minute);
  }
}
