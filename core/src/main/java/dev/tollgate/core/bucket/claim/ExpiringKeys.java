package dev.tollgate.core.bucket.claim;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A map from keys to the instants at which they expire. Keeps the 10,000 most recently used keys.
 * Thread-safe.
 */
public final class ExpiringKeys<K> {
  private static final int MAX = 10_000;

  private final Map<K, Instant> until =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, Instant> eldest) {
          return size() > MAX;
        }
      };

  /** An empty map. */
  public ExpiringKeys() {}

  /** Sets the expiry of a key. */
  public synchronized void put(K id, Instant end) {
    until.put(id, end);
  }

  /** Removes a key. */
  public synchronized void remove(K id) {
    until.remove(id);
  }

  /** The expiry of a key, which may be in the past; empty if the key is unknown. */
  public synchronized Optional<Instant> until(K id) {
    return Optional.ofNullable(until.get(id));
  }

  /**
   * Sets the expiry of a key, unless the key has not expired at {@code now}. Returns whether it
   * did.
   */
  public synchronized boolean putIfExpired(K id, Instant now, Instant end) {
    if (until(id).filter(now::isBefore).isPresent()) {
      return false;
    }
    put(id, end);
    return true;
  }
}
