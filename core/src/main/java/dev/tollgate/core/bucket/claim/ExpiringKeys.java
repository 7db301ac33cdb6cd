package dev.tollgate.core.bucket.claim;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Remembers until when something holds, for the 10,000 keys used last.
 *
 * @param <K> what it holds for
 */
public final class ExpiringKeys<K> {
  private static final int MOST = 10_000;

  private final Map<K, Instant> until =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<K, Instant> eldest) {
          return size() > MOST;
        }
      };

  /** Nothing yet. */
  public ExpiringKeys() {}

  /** Remembers that something holds until {@code end}. */
  public synchronized void put(K id, Instant end) {
    until.put(id, end);
  }

  synchronized void remove(K id) {
    until.remove(id);
  }

  /** Until when it holds, or held; empty if nothing is remembered. */
  public synchronized Optional<Instant> until(K id) {
    return Optional.ofNullable(until.get(id));
  }

  /** Remembers {@code end}, unless something is remembered that has not ended at {@code now}. */
  synchronized boolean putIfExpired(K id, Instant now, Instant end) {
    if (until(id).filter(now::isBefore).isPresent()) {
      return false;
    }
    put(id, end);
    return true;
  }
}
