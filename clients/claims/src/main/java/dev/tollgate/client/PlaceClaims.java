package dev.tollgate.client;

import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.LineCaller;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Claims of callers that keep their place themselves, or that have a key under which this process
 * keeps it. In one process a place admits once: it is void after it was redeemed, and for other
 * claims while it is being redeemed.
 */
final class PlaceClaims {
  /** How long a redeemed place is remembered: its grace, and longer if its slot is moved. */
  private static final Duration REMEMBERED = Duration.ofMinutes(10);

  /** When a caller comes again while another claim of it redeems its place. */
  private static final Duration ATTEMPT = Duration.ofSeconds(1);

  /** How many callers with a key are remembered. */
  private static final int MAX_CALLERS = 10_000;

  private final InstantSource clock;
  private final ExpiringKeys<Key> redeemed = new ExpiringKeys<>();

  /** The places of callers with a key, of those that claimed last. */
  private final Map<Caller, Place> held = new RecentlyUsedMap<>(MAX_CALLERS);

  PlaceClaims(InstantSource clock) {
    this.clock = clock;
  }

  private record Key(BucketId bucket, Place place) {}

  private record Caller(BucketId bucket, String key) {}

  /**
   * Claims a token.
   *
   * @param brought the caller's place; a place that is void or was never taken counts as none
   * @param claim claims the token for the caller
   */
  ClaimResult claim(Bucket read, Optional<Place> brought, Function<LineCaller, ClaimResult> claim) {
    return claim(read, brought.filter(read::hasIssued), any -> true, false, claim);
  }

  /**
   * Claims a token for the caller with a key, in the place that it has. Of concurrent claims of one
   * caller, one keeps a new place.
   */
  ClaimResult claim(Bucket read, String key, Function<LineCaller, ClaimResult> claim) {
    Held place = new Held(new Caller(read.id(), key));
    ClaimResult result = claim(read, place.last, place::keep, true, claim);
    if (result instanceof ClaimResult.Granted) {
      place.replace(Optional.empty());
    }
    return result;
  }

  /** The place of the caller with a key. */
  Optional<Place> heldBy(BucketId bucket, String key) {
    synchronized (held) {
      return Optional.ofNullable(held.get(new Caller(bucket, key)));
    }
  }

  /** The place of a caller with a key, as one claim has read or kept it. */
  private final class Held {
    private final Caller caller;
    private Optional<Place> last;

    Held(Caller caller) {
      this.caller = caller;
      this.last = heldBy(caller.bucket(), caller.key());
    }

    boolean keep(Place next) {
      return replace(Optional.of(next));
    }

    private boolean replace(Optional<Place> next) {
      synchronized (held) {
        if (!Optional.ofNullable(held.get(caller)).equals(last)) {
          return false;
        }
        last = next;
        next.ifPresentOrElse(place -> held.put(caller, place), () -> held.remove(caller));
        return true;
      }
    }
  }

  private ClaimResult claim(
      Bucket read,
      Optional<Place> known,
      Predicate<Place> keep,
      boolean hasKey,
      Function<LineCaller, ClaimResult> claim) {
    if (known.isEmpty()) {
      return claim.apply(new Keeping(known, keep));
    }
    Instant now = clock.instant();
    Key key = new Key(read.id(), known.get());
    boolean isDue = read.at(now).standing(known.get()) == Standing.DUE;
    boolean isMarked = isDue && redeemed.putIfExpired(key, now, now.plus(REMEMBERED));
    if (hasKey && isDue && !isMarked) {
      // A concurrent claim of the caller redeems the place. If that fails, the caller still has it.
      return new ClaimResult.Denied(now.plus(ATTEMPT), known);
    }
    boolean isUsable = isMarked || (!isDue && !isRedeemed(key, now));
    boolean isGranted = false;
    try {
      ClaimResult result = claim.apply(new Keeping(known.filter(place -> isUsable), keep));
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
        .filter(place -> row.at(now).standing(place) == Standing.WAITING)
        .filter(place -> !isRedeemed(new Key(row.id(), place), now));
  }

  private boolean isRedeemed(Key key, Instant now) {
    return redeemed.until(key).filter(now::isBefore).isPresent();
  }

  /** A caller that keeps the places that {@code keep} accepts: its result has them. */
  private record Keeping(Optional<Place> place, Predicate<Place> keep) implements LineCaller {
    @Override
    public boolean keep(Place taken, Instant slot) {
      return keep.test(taken);
    }
  }
}
