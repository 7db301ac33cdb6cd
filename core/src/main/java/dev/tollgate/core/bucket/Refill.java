package dev.tollgate.core.bucket;

/** What adds tokens to a bucket: a rate, or a calendar. */
public sealed interface Refill permits Rate, Calendar {
  /**
   * The rate at which a bucket of this capacity fills in the long run.
   *
   * @param capacity 1 or more
   */
  Rate average(long capacity);
}
