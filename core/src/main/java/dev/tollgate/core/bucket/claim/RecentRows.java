package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** The rows that a process read last, of the 10,000 most recently used buckets. Thread-safe. */
final class RecentRows {
  private static final int MAX = 10_000;

  private final Map<BucketId, Read> rows =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<BucketId, Read> eldest) {
          return size() > MAX;
        }
      };

  private record Read(Bucket row, Instant at) {}

  /**
   * Keeps a row.
   *
   * @param at when its read began
   */
  synchronized void put(Bucket row, Instant at) {
    rows.put(row.id(), new Read(row, at));
  }

  /** Forgets a row. */
  synchronized void remove(BucketId id) {
    rows.remove(id);
  }

  /** Keeps what was found since a row was read, which stays as old as it is. */
  synchronized void replace(Bucket row) {
    rows.computeIfPresent(row.id(), (id, read) -> new Read(row, read.at()));
  }

  /** The row, if it was read less than {@code life} before {@code now}. */
  synchronized Optional<Bucket> find(BucketId id, Instant now, Duration life) {
    return Optional.ofNullable(rows.get(id))
        .filter(read -> now.isBefore(read.at().plus(life)))
        .map(Read::row);
  }
}
