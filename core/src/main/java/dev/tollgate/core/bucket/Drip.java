package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The spreading of a minute's tokens over the next minute, which makes a smooth bucket out of a
 * schedule that fires once a minute: of {@code n} tokens the i-th is hidden for {@code ⌊i × 60 /
 * n⌋} seconds.
 *
 * @param startedAt when the tokens were sent
 * @param tokens how many
 * @param lag how long after its full minute a fill is to be expected, less than a minute: the
 *     longest that was seen lately
 */
public record Drip(Instant startedAt, long tokens, Duration lag) {
  private static final long SECONDS = 60;

  /**
   * Checks count and lag.
   *
   * @throws InvalidValue if one of them is out of range
   */
  public Drip {
    InvalidValue.inRange("tokens", tokens, 0, Rate.MOST_PER_MINUTE);
    InvalidValue.inRange("lag", lag.toMillis(), 0, SECONDS * 1000 - 1);
  }

  /**
   * The next drip. A schedule fires at any second of its minute (EventBridge Scheduler User Guide,
   * "Schedule types"), so the lag to be expected rises at once and falls slowly. A fill for another
   * instant than a full minute is not a schedule's, and tells nothing of the lag.
   *
   * @param due the instant that the fill was for
   */
  Drip next(Instant due, Instant now, long tokens) {
    if (!due.equals(due.truncatedTo(ChronoUnit.MINUTES))) {
      return new Drip(now, tokens, lag);
    }
    Duration seen = Duration.between(due, now);
    Duration faded = lag.multipliedBy(7).dividedBy(8);
    Duration longest = seen.compareTo(faded) > 0 ? seen : faded;
    Duration below = Duration.ofSeconds(SECONDS).minusMillis(1);
    return new Drip(now, tokens, longest.compareTo(below) > 0 ? below : longest);
  }

  /** How long the token of this index, 0 to tokens − 1, stays hidden. */
  public int delaySeconds(long index) {
    return (int) (index * SECONDS / tokens);
  }

  /** How many of the tokens have appeared at {@code now}. */
  public long appearedAt(Instant now) {
    long elapsed = Math.floorDiv(Duration.between(startedAt, now).toMillis(), 1000L);
    return elapsed < 0 ? 0 : Math.min(tokens, -Math.floorDiv(-(elapsed + 1) * tokens, SECONDS));
  }

  /** Whether all the tokens have appeared at {@code now}. */
  boolean isOverAt(Instant now) {
    return appearedAt(now) == tokens;
  }

  /** When the token of this index, 0 to tokens − 1, appears. */
  public Instant appearsAt(long index) {
    return startedAt.plusSeconds(delaySeconds(index));
  }
}
