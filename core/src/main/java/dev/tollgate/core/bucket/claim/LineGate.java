package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.BucketGate.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Claims single tokens for callers that wait in the bucket's {@link Line}.
 *
 * <p>While nobody waits, a claim goes straight to the {@link BucketGate}, and a caller that is
 * refused opens the line with one write. While somebody waits, a caller whose place is due claims a
 * token without a write; a caller that has a place and comes early is refused without any request;
 * a new caller takes a place with one write. If the write fails, the caller is refused without a
 * place.
 */
public final class LineGate {
  /** How late a token may be before the caller that waits for it moves its slot. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  private final Buckets buckets;
  private final BucketGate gate;
  private final InstantSource clock;
  private final ExpiringKeys<BucketId> known = new ExpiringKeys<>();

  /** A gate in front of {@code gate}, to the lines of {@code buckets}. */
  public LineGate(Buckets buckets, BucketGate gate, InstantSource clock) {
    this.buckets = buckets;
    this.gate = gate;
    this.clock = clock;
  }

  /** Whether this process knows that callers wait in the bucket's line now. */
  public boolean isKnown(BucketId id) {
    return known.until(id).filter(clock.instant()::isBefore).isPresent();
  }

  /**
   * Holds one token.
   *
   * @param read the bucket as just read
   * @param place the caller's place, if it has one
   * @param first the result of {@link BucketGate#firstTry}, which ran while the row was read
   */
  public ClaimResult claim(Bucket read, Optional<Place> place, Attempt first) {
    Instant now = clock.instant();
    Optional<Line> line = read.liveLineAt(now);
    if (line.isEmpty()) {
      ClaimResult claim = gate.claim(read.id(), Optional.of(read), first);
      return claim instanceof ClaimResult.Denied denied ? open(read, denied.retryAt()) : claim;
    }
    return claimInLine(slowed(read, now), place, first);
  }

  /** The bucket with a line that is no faster than its rate. */
  private Bucket slowed(Bucket read, Instant now) {
    return read.lineSlowed(now)
        .flatMap(next -> quietly(() -> buckets.changeLine(read.id(), read.line(), next)))
        .map(read::with)
        .orElse(read);
  }

  private ClaimResult claimInLine(Bucket read, Optional<Place> place, Attempt first) {
    Instant now = clock.instant();
    Optional<Line> line = read.line();
    gate.fillForLine(read);
    Standing standing = place.map(known -> read.standing(known, now)).orElse(Standing.VOID);
    if (standing == Standing.DUE) {
      return redeem(read, place.get(), first);
    }
    Attempt attempt = first;
    if (hasSpare(read.id(), line.get(), now)) {
      ClaimResult claim = gate.claim(read.id(), Optional.of(read), attempt);
      if (!(claim instanceof ClaimResult.Denied)) {
        return claim;
      }
      attempt = new Attempt();
    }
    gate.giveBack(read.id(), attempt);
    return standing == Standing.WAITING
        ? refused(read.id(), line.get(), place.get())
        : enter(read, line.get());
  }

  /** Opens the line for a caller that was refused until {@code slot}. */
  private ClaimResult open(Bucket read, Instant slot) {
    Line next = read.lineOpened(slot, clock.instant());
    return quietly(() -> buckets.changeLine(read.id(), read.line(), next))
        .or(() -> quietly(() -> takePlaceInOpened(read.id())))
        .map(line -> refused(read.id(), line, line.last()))
        .orElseGet(() -> new ClaimResult.Denied(slot));
  }

  /** Takes a place in a line that another caller has just opened. */
  private Optional<Line> takePlaceInOpened(BucketId id) {
    return buckets
        .find(id)
        .flatMap(bucket -> bucket.liveLineAt(clock.instant()))
        .flatMap(line -> buckets.takePlace(id, line));
  }

  /** Takes a place for a caller without one. */
  private ClaimResult enter(Bucket read, Line line) {
    Optional<Line> extended = quietly(() -> buckets.takePlace(read.id(), line));
    if (extended.isEmpty()) {
      return new ClaimResult.Denied(line.slot(line.issued() + 1));
    }
    Line now = extended.get();
    return now.slot(now.issued()).isAfter(clock.instant())
        ? refused(read.id(), now, now.last())
        : redeem(read.with(now), now.last(), new Attempt());
  }

  /** Claims a token for a place that is due. */
  private ClaimResult redeem(Bucket read, Place place, Attempt attempt) {
    ClaimResult claim = gate.claim(read.id(), Optional.of(read), attempt);
    if (!(claim instanceof ClaimResult.Denied denied)) {
      return claim;
    }
    // A fill may be about to start. The places behind keep their slots, because it sends all that
    // is owed.
    Instant retryAt = denied.retryAt();
    boolean isPatient =
        clock.instant().isBefore(read.line().orElseThrow().slot(place.number()).plus(PATIENCE));
    if (isPatient && read.standing(place, retryAt.plus(PATIENCE)) == Standing.DUE) {
      return new ClaimResult.Denied(retryAt, Optional.of(place));
    }
    Line moved = read.lineMoved(place, retryAt).orElseThrow();
    return quietly(() -> buckets.changeLine(read.id(), read.line(), moved))
        .map(line -> refused(read.id(), line, place))
        .orElseGet(() -> new ClaimResult.Denied(retryAt, Optional.of(place)));
  }

  private boolean hasSpare(BucketId id, Line line, Instant now) {
    return line.spare() > 0
        && quietly(() -> Optional.of(buckets.takeSpare(id, line.epoch(), now)))
            .filter(WriteResult.DONE::equals)
            .isPresent();
  }

  private ClaimResult refused(BucketId id, Line line, Place place) {
    known.put(id, line.slot(line.issued()));
    return new ClaimResult.Denied(line.slot(place.number()), Optional.of(place));
  }

  private static <T> Optional<T> quietly(Supplier<Optional<T>> request) {
    try {
      return request.get();
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }
}
