package dev.tollgate.core.bucket;

/** How a bucket is filled. */
public enum FillMode {
  /**
   * A schedule for the bucket invokes the token producer, which holds the level at the capacity.
   */
  PRODUCER,
  /**
   * A schedule for the bucket sends its tokens without a function, and the expiry of tokens limits
   * the level: see {@link DirectFill}.
   */
  DIRECT,
  /**
   * A schedule for many tenants, a {@link Shard}, invokes the token producer for all their buckets.
   */
  SHARED
}
