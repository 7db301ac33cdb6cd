package dev.tollgate.core.testing;

import dev.tollgate.core.bucket.Buckets;

class InMemoryBucketsTest extends BucketsContract {
  private final InMemoryBuckets buckets = new InMemoryBuckets();

  @Override
  protected Buckets buckets() {
    return buckets;
  }
}
