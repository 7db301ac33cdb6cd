package dev.tollgate.core.bucket;

/** How a bucket is filled. */
public enum FillMode {
  /**
   * A schedule for the bucket invokes the token producer, which holds the level at the capacity.
   */
  PRODUCER
}
