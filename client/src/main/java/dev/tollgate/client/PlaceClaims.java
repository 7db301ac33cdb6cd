package dev.tollgate.client;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.ExpiringKeys;
import dev.tollgate.core.bucket.claim.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Function;

/**
 * Claims of callers that keep their place themselves. In one process a place admits once: it is
 * void after it was redeemed, and for other claims while it is being redeemed.
 */
final class PlaceClaims {
  /** How long a redeemed place is remembered: its grace, and longer if its slot is moved. */
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  private final InstantSource clock;
  private final ExpiringKeys<Key> redeemed = new ExpiringKeys<>();

  PlaceClaims(InstantSource clock) {
    this.clock = clock;
  }

  private record Key(BucketId bucket, Place place) {}

  /**
   * Claims a token.
   *
   * @param brought the caller's place; a place that is void or was never taken counts as none
   * @param claim claims the token for the caller
   */
  ClaimResult claim(Bucket read, Optional<Place> brought, Function<Waiting, ClaimResult> claim) {
    Optional<Place> issued = brought.filter(read::hasIssued);
    if (issued.isEmpty()) {
      return claim.apply(new Keeping(issued));
    }
    Instant now = clock.instant();
    Key key = new Key(read.id(), issued.get());
    boolean isDue = read.standing(issued.get(), now) == Standing.DUE;
    boolean isMarked = isDue && redeemed.putIfExpired(key, now, now.plus(REMEMBERED));
    boolean isUsable = isMarked || (!isDue && !isRedeemed(key, now));
    boolean isGranted = false;
    try {
      ClaimResult result = claim.apply(new Keeping(issued.filter(place -> isUsable)));
      isGranted = result instanceof ClaimResult.Granted;
      return result;
    } finally {
      if (isGranted) {
        redeemed.put(key, clock.instant().plus(REMEMBERED));
      } else if (isMarked) {
        redeemed.remove(key);
      }
    }
  }

  /** The caller's place, if its slot has not come and it was not redeemed. */
  Optional<Place> waiting(Bucket row, Optional<Place> brought) {
    Instant now = clock.instant();
    return brought
        .filter(row::hasIssued)
        .filter(place -> row.standing(place, now) == Standing.WAITING)
        .filter(place -> !isRedeemed(new Key(row.id(), place), now));
  }

  private boolean isRedeemed(Key key, Instant now) {
    return redeemed.until(key).filter(now::isBefore).isPresent();
  }

  /** A caller that keeps whatever place it gets: its result has it. */
  private record Keeping(Optional<Place> place) implements Waiting {
    @Override
    public boolean keep(Place taken, Instant slot) {
      return true;
    }
  }
}
