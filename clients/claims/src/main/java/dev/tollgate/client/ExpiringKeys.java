package dev.tollgate.client;

import dev.tollgate.core.RecentlyUsedMap;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * A map from keys to the instants at which they expire. Keeps the 10,000 most recently used keys.
 * Thread-safe.
 */
final class ExpiringKeys<K> {
  private static final int MAX = 10_000;

  private final Map<K, Instant> until = new RecentlyUsedMap<>(MAX);

  /** An empty map. */
  ExpiringKeys() {}

  /** Sets the expiry of a key. */
  synchronized void put(K id, Instant end) {
    until.put(id, end);
  }

  /** Removes a key. */
  synchronized void remove(K id) {
    until.remove(id);
  }

  /** The expiry of a key, which may be in the past; empty if the key is unknown. */
  synchronized Optional<Instant> until(K id) {
    return Optional.ofNullable(until.get(id));
  }

  /**
   * Sets the expiry of a key, unless the key has not expired at {@code now}. Returns whether it
   * did.
   */
  synchronized boolean putIfExpired(K id, Instant now, Instant end) {
    if (until(id).filter(now::isBefore).isPresent()) {
      return false;
    }
    put(id, end);
    return true;
  }
}
