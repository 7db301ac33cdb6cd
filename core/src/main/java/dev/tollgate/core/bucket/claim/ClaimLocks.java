package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.BucketId;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Serializes this process's claims for several tokens of one bucket. Buckets share locks, so a
 * claim waits for half a second at most and then continues without a lock.
 */
final class ClaimLocks {
  private static final int LOCKS = 64;
  private static final long MAX_MILLIS = 500;

  private final ReentrantLock[] locks =
      IntStream.range(0, LOCKS)
          .mapToObj(i -> new ReentrantLock(true))
          .toArray(ReentrantLock[]::new);

  <T> T withLock(BucketId id, Supplier<T> work) {
    ReentrantLock lock = locks[Math.floorMod(id.hashCode(), LOCKS)];
    boolean locked = false;
    try {
      locked = lock.tryLock(MAX_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    try {
      return work.get();
    } finally {
      if (locked) {
        lock.unlock();
      }
    }
  }
}
