package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;
import static dev.tollgate.aws.Asking.write;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Buckets in the Limit table. Which of a shard are due is asked of an index, under the function's
 * own role: it tells of all tenants.
 */
final class DynamoDbBuckets implements Buckets {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final TenantCredentials credentials;

  DynamoDbBuckets(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.credentials = credentials;
  }

  @Override
  public Optional<Bucket> find(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    Map<String, AttributeValue> item =
        ask(
            "DynamoDB GetItem of bucket " + id,
            () ->
                dynamoDb
                    .getItem(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .tableName(table)
                                .key(LimitRow.key(id))
                                .consistentRead(true))
                    .item());
    return item.isEmpty() ? Optional.empty() : Optional.of(LimitRow.bucket(new Row(item)));
  }

  @Override
  public List<Bucket> list(TenantId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id);
    return ask(
        "DynamoDB Query of the buckets of " + id,
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .overrideConfiguration(tenant)
                            .tableName(table)
                            .consistentRead(true)
                            .keyConditionExpression("#tenant = :tenant AND begins_with(#key, :key)")
                            .expressionAttributeNames(
                                Map.of("#tenant", LimitRow.TENANT, "#key", LimitRow.KEY))
                            .expressionAttributeValues(
                                Map.of(
                                    ":tenant",
                                    Attribute.text(id.value()),
                                    ":key",
                                    Attribute.text(LimitRow.BUCKET_PREFIX))))
                .items()
                .stream()
                .map(item -> LimitRow.bucket(new Row(item)))
                .toList());
  }

  @Override
  public Written open(Bucket bucket) {
    AwsRequestOverrideConfiguration tenant = credentials.as(bucket.id().tenant());
    return write(
        "DynamoDB PutItem of bucket " + bucket.id(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(table)
                        .item(LimitRow.write(bucket))
                        .conditionExpression("attribute_not_exists(#tenant)")
                        .expressionAttributeNames(Map.of("#tenant", LimitRow.TENANT))));
  }

  @Override
  public Written replace(Bucket next) {
    AwsRequestOverrideConfiguration tenant = credentials.as(next.id().tenant());
    return write(
        "DynamoDB PutItem of bucket " + next.id(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(table)
                        .item(LimitRow.write(next))
                        .conditionExpression("#version = :before")
                        .expressionAttributeNames(Map.of("#version", LimitRow.VERSION))
                        .expressionAttributeValues(
                            Map.of(":before", Attribute.number(next.version() - 1)))));
  }

  @Override
  public void rememberEmpty(Bucket read, Instant until) {
    AwsRequestOverrideConfiguration tenant = credentials.as(read.id().tenant());
    write(
        "DynamoDB UpdateItem of bucket " + read.id(),
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(table)
                        .key(LimitRow.key(read.id()))
                        .updateExpression("SET #until = :until")
                        .conditionExpression("#version = :read")
                        .expressionAttributeNames(
                            Map.of("#until", LimitRow.EMPTY_UNTIL, "#version", LimitRow.VERSION))
                        .expressionAttributeValues(
                            Map.of(
                                ":until",
                                Attribute.nanos(until),
                                ":read",
                                Attribute.number(read.version())))));
  }

  @Override
  public List<BucketId> due(Shard shard, Instant now) {
    return ask(
        "DynamoDB Query of the buckets of " + shard,
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .tableName(table)
                            .indexName(LimitRow.SHARD)
                            .keyConditionExpression("#shard = :shard AND #turn <= :now")
                            .expressionAttributeNames(
                                Map.of("#shard", LimitRow.SHARD, "#turn", LimitRow.TURN_AT))
                            .expressionAttributeValues(
                                Map.of(
                                    ":shard",
                                    Attribute.text(shard.toString()),
                                    ":now",
                                    Attribute.nanos(now))))
                .items()
                .stream()
                .map(item -> LimitRow.bucketId(new Row(item)))
                .toList());
  }

  @Override
  public void remove(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    ask(
        "DynamoDB DeleteItem of bucket " + id,
        () ->
            dynamoDb.deleteItem(
                request ->
                    request.overrideConfiguration(tenant).tableName(table).key(LimitRow.key(id))));
  }
}
