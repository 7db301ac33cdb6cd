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
 * @param version counts the changes of what is written here, but for {@code emptyUntil}
 */
public record Bucket(
    BucketId id,
    BucketSpec spec,
    Ledger ledger,
    Drip drip,
    long level,
    Optional<Instant> emptyUntil,
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
        0);
  }

  /** This bucket under another rate and capacity from {@code now} on. */
  public Bucket retuned(BucketSpec next, Instant now) {
    return new Bucket(
        id, next, ledger.retuned(spec, next, now), drip, level, Optional.empty(), version + 1);
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
        version + 1);
  }

  /**
   * The tokens in this bucket at {@code now}, of which the queue says that there are so many. That
   * is up to a minute behind; but if somebody found the bucket empty since the last fill, it holds
   * no more than what has not appeared yet.
   */
  long levelAt(Instant now, long told) {
    boolean seenEmpty = emptyUntil.isPresent() && emptyUntil.get().isAfter(drip.startedAt());
    return seenEmpty ? Math.min(told, drip.tokens() - drip.appearedAt(now)) : told;
  }

  /** Whether it is known at {@code now} that no token is to be had. */
  public boolean knownEmptyAt(Instant now) {
    return emptyUntil.isPresent() && now.isBefore(emptyUntil.get());
  }

  /** When a bucket that is empty at {@code now} has its next token, as far as is known. */
  public Instant nextTokenAt(Instant now) {
    return nextTokensAt(now, 1);
  }

  /**
   * When a bucket that is empty at {@code now} will have been given so many tokens: the next ones
   * of the drip, then those of the fills to come. Fills come once a minute, as long after the full
   * minute as the last one did: a schedule fires at some second of its minute, and keeps to it.
   *
   * @param tokens at least 1
   */
  public Instant nextTokensAt(Instant now, long tokens) {
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
