package dev.tollgate.league.stores;

import java.time.Duration;

/** A limiter whose buckets are in a store. Any number of threads may claim, as processes would. */
interface StoredLimiter extends AutoCloseable {
  /**
   * Opens a full bucket.
   *
   * @param key a key that no earlier bucket had
   * @param tokens how many tokens it gets each {@code per}
   */
  StoredBucket open(String key, long tokens, Duration per, long capacity);

  /** Ends the store. */
  @Override
  void close();

  /** A bucket in the store. */
  @FunctionalInterface
  interface StoredBucket {
    /** Claims tokens, all or none. */
    Decision claim(long count);
  }

  /**
   * The answer to a claim.
   *
   * @param retryAfter when to try again; zero if admitted
   */
  record Decision(boolean admitted, Duration retryAfter) {}
}
