package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Spreads the returns of callers that are refused together and keep no place.
 *
 * <p>Each caller gets a number of the bucket's {@link Line}, and the slot of that number as its
 * retry time. Nothing enforces slots: a caller may claim at any time. A caller finds a token at its
 * slot if no other caller claims before. If it finds none, it is refused again, and its next slot
 * is behind all others.
 */
public final class ReturnSlots {
  /** How long after the next token the last slot may be. Later slots would hardly be waited for. */
  private static final Duration LONGEST = Duration.ofMinutes(5);

  private final Buckets buckets;
  private final InstantSource clock;

  /** Slots in the lines of {@code buckets}. */
  public ReturnSlots(Buckets buckets, InstantSource clock) {
    this.buckets = buckets;
    this.clock = clock;
  }

  /**
   * Takes slots in one write, or in two if another caller has opened or changed the line since it
   * was read. That caller found the bucket empty at the same time, so its slots are the same.
   *
   * @param read the bucket as just read, and since found empty
   * @param count how many; 1 or more
   * @return the slots in order; empty if the bucket keeps no line, or the line is too long or
   *     cannot be written
   */
  public List<Instant> take(Bucket read, int count) {
    Instant next = read.at(clock.instant()).nextToken();
    return read.spec().keepsLine() ? take(read, next, count) : List.of();
  }

  private List<Instant> take(Bucket read, Instant next, int count) {
    Instant now = clock.instant();
    Line line =
        read.at(now)
            .line()
            .map(live -> read.at(now).lineRetuned().orElse(live))
            .orElseGet(() -> read.at(now).lineOpened(next).withIssued(0));
    boolean lagsBehind = line.slot(line.issued() + 1).isBefore(next);
    Line current = lagsBehind ? moved(read.with(line), next) : line;
    Line taken = current.withIssued(current.issued() + count);
    if (taken.slot(taken.issued()).isAfter(next.plus(LONGEST))) {
      return List.of();
    }
    boolean isStored = read.line().filter(current::equals).isPresent();
    return Unavailable.orEmpty(
            () ->
                isStored
                    ? buckets.takePlaces(read.id(), current, count)
                    : buckets
                        .changeLine(read.id(), read.line(), taken)
                        .or(() -> buckets.takePlaces(read.id(), current, count)))
        .map(stored -> slots(stored, count))
        .orElse(List.of());
  }

  /** The line whose next slot is that of the next token: others took those of earlier slots. */
  private static Line moved(Bucket read, Instant next) {
    Line line = read.line().orElseThrow();
    return read.lineMoved(new Place(line.epoch(), line.issued() + 1), next).orElseThrow();
  }

  private static List<Instant> slots(Line line, int count) {
    return LongStream.rangeClosed(line.issued() - count + 1, line.issued())
        .mapToObj(line::slot)
        .toList();
  }
}
