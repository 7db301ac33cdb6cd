package dev.tollgate.client;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.testing.contract.BucketsContract;

class MemoryBucketsTest extends BucketsContract {
  private final MemoryBuckets buckets = new MemoryBuckets();

  @Override
  protected Buckets buckets() {
    return buckets;
  }
}
