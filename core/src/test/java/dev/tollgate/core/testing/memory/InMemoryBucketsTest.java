package dev.tollgate.core.testing.memory;

import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.testing.contract.BucketsContract;

class InMemoryBucketsTest extends BucketsContract {
  private final InMemoryBuckets buckets = new InMemoryBuckets();

  @Override
  protected Buckets buckets() {
    return buckets;
  }
}
