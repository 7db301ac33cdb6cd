package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.BucketsContract;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

@ExtendWith(Engines.class)
class DynamoDbBucketsTest extends BucketsContract {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final Buckets buckets;

  DynamoDbBucketsTest(Engines.Tables tables) {
    dynamoDb = tables.client();
    table = tables.limit();
    buckets = new DynamoDbBuckets(dynamoDb, table, Engines.ANYBODY);
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Test
  void a_line_that_an_older_release_wrote_without_its_earlier_rate_can_be_changed() {
    BucketId id = Samples.bucketId();
    buckets.open(Bucket.opened(id, new BucketSpec(Rate.perMinute(30), 30), Samples.NOW));
    Line written =
        buckets
            .changeLine(id, Optional.empty(), read(id).lineOpened(Samples.NOW, Samples.NOW))
            .orElseThrow();
    dynamoDb.updateItem(
        update ->
            update
                .tableName(table)
                .key(LimitRow.key(id))
                .updateExpression("REMOVE #line.#before")
                .expressionAttributeNames(
                    Map.of("#line", LimitRow.LINE, "#before", LimitRow.LINE_BEFORE)));
    Instant later = Samples.NOW.plusSeconds(60);
    Line next = read(id).lineOpened(later, later);

    assertThat(buckets.changeLine(id, read(id).line(), next)).contains(next);

    assertThat(read(id).line()).contains(next);
    assertThat(buckets.changeLine(id, Optional.of(written), next)).isEmpty();
  }

  private Bucket read(BucketId id) {
    return buckets.find(id).orElseThrow();
  }
}
