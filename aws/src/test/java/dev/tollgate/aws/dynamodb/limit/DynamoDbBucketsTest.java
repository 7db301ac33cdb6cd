package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.testing.contract.BucketsContract;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Engines.class)
class DynamoDbBucketsTest extends BucketsContract {
  private final Buckets buckets;

  DynamoDbBucketsTest(Engines.Tables tables) {
    buckets = new DynamoDbBuckets(tables.client(), tables.limit(), Engines.ANYBODY);
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }
}
