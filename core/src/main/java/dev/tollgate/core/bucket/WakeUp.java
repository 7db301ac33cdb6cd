package dev.tollgate.core.bucket;

import dev.tollgate.core.Unavailable;

/** Wakes buckets that hibernate, and those that nobody has filled for minutes. */
public interface WakeUp {
  /**
   * Has the bucket filled again. When this returns, it holds what it is owed. Harmless if it is
   * awake.
   *
   * @throws Unavailable if that could not be done, or not surely
   */
  void wake(BucketId id);
}
