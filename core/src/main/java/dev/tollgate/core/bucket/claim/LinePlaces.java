package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * Gives places in the {@link Line} of a bucket to callers that were refused, with one write of the
 * line each, between two of the caller's. A caller that gets none is refused without a place. If
 * the line is full, its retry time is the slot behind the last one: then the line can take as many
 * callers again.
 *
 * <p>A claim stores the expected place with its caller before the line is incremented. So only one
 * of a caller's concurrent claims takes a place, and no caller can fill a line with unused places.
 * The other claims cannot store a place, or find one that is about to be taken, and are refused
 * until its slot. After a claim took a place, it stores that one, because another caller may have
 * taken the expected place. If it cannot store it, it frees the place. A caller that ends before
 * frees nothing, because the expected place may be another caller's. After a crash in between, a
 * caller may have the place of another one: then both come for one token, and one of them waits for
 * the next.
 */
final class LinePlaces {
  private final Buckets buckets;
  private final FreedPlaces freed;
  private final InstantSource clock;

  LinePlaces(Buckets buckets, InstantSource clock) {
    this.buckets = buckets;
    this.freed = new FreedPlaces(buckets, clock);
    this.clock = clock;
  }

  /**
   * What became of a caller that was to take a place.
   *
   * @param row the bucket with the line as it is now
   * @param refusal with the caller's place or without one
   * @param isAtEnd whether the place is a new one at the end of the line, whose slot may have come
   */
  record Entry(Bucket row, Denied refusal, boolean isAtEnd) {
    private static Entry refused(Bucket row, Denied refusal) {
      return new Entry(row, refusal, false);
    }
  }

  /**
   * Opens the line for a caller that was refused until {@code slot}.
   *
   * <p>The caller may have kept the first place already: a concurrent claim is about to open the
   * line, or an earlier one failed to. Then this claim only opens the line. If both do so at the
   * same time, the other one takes the next place as well, and the first place stays unused.
   */
  Entry open(Bucket row, Instant slot, LineCaller caller) {
    Entry without = Entry.refused(row, new Denied(slot));
    Line next = row.at(clock.instant()).lineOpened(slot);
    boolean isKept = caller.place().filter(next.last()::equals).isPresent();
    if (!isKept && (isOutdated(row, caller, next.epoch() - 1) || !expects(caller, next))) {
      return without;
    }
    return Unavailable.orEmpty(() -> buckets.changeLine(row.id(), row.line(), next))
        .or(
            () ->
                isKept
                    ? Optional.empty()
                    : Unavailable.orEmpty(() -> takePlaceInOpened(row.id(), next)))
        .map(line -> entered(row, line, caller))
        .orElse(without);
  }

  /**
   * Takes a place in a line that another caller has just opened. If there is no line, one that
   * could not be read has been removed; then this one is opened.
   */
  private Optional<Line> takePlaceInOpened(BucketId id, Line next) {
    Optional<Bucket> current = buckets.find(id);
    return current.filter(bucket -> bucket.line().isEmpty()).isPresent()
        ? buckets.changeLine(id, Optional.empty(), next)
        : current
            .flatMap(bucket -> bucket.at(clock.instant()).line())
            .flatMap(line -> buckets.takePlace(id, line));
  }

  /** Takes a place for a caller without one. */
  Entry enter(Bucket row, Line line, LineCaller caller) {
    Line next = line.extended();
    Entry without = Entry.refused(row, new Denied(next.slot(next.issued())));
    if (isOutdated(row, caller, line.epoch())) {
      return without;
    }
    Optional<Place> left = Unavailable.orEmpty(() -> freed.take(row.id(), line, caller));
    if (left.isPresent()) {
      return Entry.refused(row, ClaimPolicy.waiting(line, left.get()));
    }
    return !line.isFullAt(clock.instant()) && expects(caller, next)
        ? Unavailable.orEmpty(() -> buckets.takePlace(row.id(), line))
            .map(extended -> entered(row, extended, caller))
            .orElse(without)
        : without;
  }

  /**
   * Whether the bucket was read before the line was opened in which the caller has a place. A place
   * of a later line that does not exist is void: that line was lost, or never opened.
   *
   * @param epoch the line as read, or an earlier one
   */
  private boolean isOutdated(Bucket row, LineCaller caller, long epoch) {
    if (caller.place().filter(kept -> kept.epoch() > epoch).isEmpty()) {
      return false;
    }
    Optional<Bucket> now = Unavailable.orEmpty(() -> buckets.find(row.id()));
    return now.isEmpty()
        || now.flatMap(Bucket::line).filter(line -> line.epoch() > epoch).isPresent();
  }

  /** Whether the caller keeps the last place of a line, which it is about to take. */
  private static boolean expects(LineCaller caller, Line line) {
    Instant slot = line.slot(line.issued());
    return caller.lasts(slot)
        && Unavailable.orEmpty(() -> Optional.of(caller.expect(line.last(), slot))).orElse(false);
  }

  /**
   * The entry of a caller that took the last place of a line. It keeps that place again: another
   * caller may have taken the expected one, or the caller's session may have ended in between.
   */
  private Entry entered(Bucket row, Line line, LineCaller caller) {
    Place taken = line.last();
    Instant slot = line.slot(taken.number());
    Optional<Boolean> isKept = Unavailable.orEmpty(() -> Optional.of(caller.keep(taken, slot)));
    if (isKept.equals(Optional.of(false))) {
      freed.free(row.id(), taken);
    }
    Optional<Place> place = Optional.of(taken).filter(any -> isKept.orElse(false));
    return new Entry(row.with(line), new Denied(slot, place), place.isPresent());
  }
}
