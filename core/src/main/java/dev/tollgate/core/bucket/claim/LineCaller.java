package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Place;
import java.time.Instant;
import java.util.Optional;

/** A caller of a claim, and where it keeps its place in line. */
public interface LineCaller {
  /** The place that it kept, as last read. */
  Optional<Place> place();

  /** Whether the caller takes a place if it is refused. */
  default boolean mayWait() {
    return true;
  }

  /** Whether the caller can wait until a slot. */
  default boolean lasts(Instant slot) {
    return true;
  }

  /** {@link #keep Keeps} a place that it is about to take. Another caller may take it first. */
  default boolean expect(Place place, Instant slot) {
    return keep(place, slot);
  }

  /**
   * Keeps a place that it took, instead of the last one.
   *
   * @param slot when its turn comes
   * @return whether it is kept; false if a concurrent claim of the same caller keeps another one,
   *     the caller has ended, or it cannot wait so long
   * @throws Unavailable if the store fails; the place may be kept then
   */
  boolean keep(Place place, Instant slot);
}
