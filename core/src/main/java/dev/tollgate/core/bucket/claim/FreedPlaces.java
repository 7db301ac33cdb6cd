package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;

/**
 * The places of sessions that ended before their slots. New callers take them before they take
 * places at the end of the {@link Line}.
 *
 * <p>Otherwise anybody could create sessions, take a place with each and end them. Each new caller
 * would then wait until the slots of all these places have passed. The places of other callers keep
 * their slots, so a freed place is of use only to a caller that takes its number.
 *
 * <p>Because of sessions that have ended, a new caller waits for two minutes at most. It takes one
 * of the freed places of the minute that begins with the first; so concurrent callers seldom take
 * the same one. A line records {@link Line#MAX_FREED} freed places, and {@linkplain Line#isFullAt
 * issues} no more places than that and those of another minute.
 *
 * <p>A session leaves its place once, with the write that ends it. If a handshake of the session is
 * about to take a place, the handshake frees it.
 */
public final class FreedPlaces {
  /** The time of the freed places among which a caller chooses. */
  private static final Duration CHOICE = Duration.ofMinutes(1);

  /** How many freed places a caller tries that others have just taken. */
  private static final int MAX_ATTEMPTS = 5;

  private final Buckets buckets;
  private final InstantSource clock;

  /** The freed places in the lines of {@code buckets}. */
  public FreedPlaces(Buckets buckets, InstantSource clock) {
    this.buckets = buckets;
    this.clock = clock;
  }

  /**
   * Frees an unused place if its slot is still ahead. If the write fails, the place stays unused,
   * like that of a caller that does not return.
   */
  public void free(BucketId id, Place place) {
    Instant now = clock.instant();
    Unavailable.ignore(
        () ->
            buckets
                .find(id)
                .flatMap(bucket -> bucket.at(now).line())
                .filter(line -> line.isAhead(place, now))
                .ifPresent(line -> free(id, place, line, now)));
  }

  private void free(BucketId id, Place place, Line line, Instant now) {
    if (line.freed().size() >= Line.MAX_FREED) {
      Set<Place> passed = passed(line, now);
      passed.stream().findAny().ifPresent(any -> buckets.takeFreed(id, any, passed));
    }
    buckets.freePlace(id, place);
  }

  /**
   * Takes a place for a caller, which keeps it; empty if there is none for it. After a failure in
   * between the place stays unused.
   */
  Optional<Place> take(BucketId id, Line line, LineCaller caller) {
    Instant now = clock.instant();
    List<Place> ahead =
        line.freedAhead(now).stream()
            .filter(place -> caller.lasts(line.slot(place.number())))
            .toList();
    List<Place> choice =
        ahead.stream()
            .filter(
                place ->
                    !line.slot(place.number())
                        .isAfter(line.slot(ahead.get(0).number()).plus(CHOICE)))
            .collect(Collectors.toList());
    for (int i = 0; i < MAX_ATTEMPTS && !choice.isEmpty(); i++) {
      Place place = choice.remove(ThreadLocalRandom.current().nextInt(choice.size()));
      // Taken before it is kept, so that no two callers keep the same place.
      if (buckets.takeFreed(id, place, passed(line, now)) == WriteResult.CONFLICT) {
        continue;
      }
      if (caller.keep(place, line.slot(place.number()))) {
        return Optional.of(place);
      }
      buckets.freePlace(id, place);
      return Optional.empty();
    }
    return Optional.empty();
  }

  private static Set<Place> passed(Line line, Instant now) {
    Set<Place> passed = new HashSet<>(line.freed());
    passed.removeAll(Set.copyOf(line.freedAhead(now)));
    return passed;
  }
}
