package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.VersionCondition;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/**
 * Buckets in the Limit table. The due buckets of a shard come from an index, which is queried with
 * the function's own role because it spans tenants.
 */
public final class DynamoDbBuckets implements Buckets {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final TenantCredentials credentials;

  public DynamoDbBuckets(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.credentials = credentials;
  }

  @Override
  public Optional<Bucket> find(BucketId id) {
    Map<String, AttributeValue> item = get(id);
    return item.isEmpty() ? Optional.empty() : Optional.of(LimitRow.bucket(new Row(item)));
  }

  private Map<String, AttributeValue> get(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    return ask(
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
  }

  @Override
  public BucketRows list(TenantId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id);
    List<Row> rows =
        ask(
            "DynamoDB Query of the buckets of " + id,
            () ->
                dynamoDb
                    .queryPaginator(
                        request ->
                            request
                                .overrideConfiguration(tenant)
                                .tableName(table)
                                .consistentRead(true)
                                .keyConditionExpression(
                                    "#tenant = :tenant AND begins_with(#key, :key)")
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
                    .map(Row::new)
                    .toList());
    List<Bucket> buckets = new ArrayList<>();
    Map<Action, UnreadableRow> unreadable = new HashMap<>();
    List<String> strays = new ArrayList<>();
    for (Row row : rows) {
      Optional<BucketId> bucket = LimitRow.findBucketId(row);
      if (bucket.isEmpty()) {
        strays.add(row.text(LimitRow.KEY));
        continue;
      }
      try {
        buckets.add(LimitRow.bucket(row));
      } catch (UnreadableRow found) {
        unreadable.put(bucket.get().action(), found);
      }
    }
    return new BucketRows(buckets, unreadable, strays);
  }

  @Override
  public WriteResult open(Bucket bucket) {
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

  /**
   * Each write stores a random id in the row. If the response is lost and the SDK repeats the
   * write, the repetition finds that id and is not a conflict.
   */
  @Override
  public WriteResult replace(Bucket next) {
    AwsRequestOverrideConfiguration tenant = credentials.as(next.id().tenant());
    AttributeValue write = Attribute.text(UUID.randomUUID().toString());
    Map<String, AttributeValue> item = new HashMap<>(LimitRow.write(next));
    item.put(LimitRow.WRITE, write);
    try {
      return ask(
          "DynamoDB PutItem of bucket " + next.id(),
          () -> replace(tenant, item, next.version(), write));
    } catch (Unavailable lost) {
      return findWrite(next.id(), write).orElseThrow(() -> lost);
    }
  }

  private WriteResult replace(
      AwsRequestOverrideConfiguration tenant,
      Map<String, AttributeValue> item,
      long next,
      AttributeValue write) {
    try {
      dynamoDb.putItem(
          request ->
              VersionCondition.replacing(request, next)
                  .overrideConfiguration(tenant)
                  .tableName(table)
                  .item(item)
                  .returnValuesOnConditionCheckFailure(
                      ReturnValuesOnConditionCheckFailure.ALL_OLD));
      return WriteResult.DONE;
    } catch (ConditionalCheckFailedException failed) {
      return failed.hasItem() && write.equals(failed.item().get(LimitRow.WRITE))
          ? WriteResult.DONE
          : WriteResult.CONFLICT;
    }
  }

  /**
   * Looks for the write whose response was lost; empty if the row shows another write or cannot be
   * read.
   */
  private Optional<WriteResult> findWrite(BucketId id, AttributeValue write) {
    try {
      return Optional.of(write.equals(get(id).get(LimitRow.WRITE)))
          .filter(Boolean::booleanValue)
          .map(done -> WriteResult.DONE);
    } catch (Unavailable unreadable) {
      return Optional.empty();
    }
  }

  @Override
  public WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    AwsRequestOverrideConfiguration tenant = credentials.as(read.id().tenant());
    Map<String, AttributeValue> values = new HashMap<>();
    LimitRow.write(found).forEach((name, value) -> values.put(":" + name, value));
    values.put(":read", Attribute.number(read.version()));
    read.emptyHint().ifPresent(seen -> values.put(":seen", Attribute.nanos(seen.since())));
    return write(
        "DynamoDB UpdateItem of bucket " + read.id(),
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(table)
                        .key(LimitRow.key(read.id()))
                        .updateExpression(
                            "SET #since = :emptySince, #until = :emptyUntil, #held = :emptyHeld")
                        .conditionExpression(
                            read.emptyHint().isPresent()
                                ? "#version = :read AND #since = :seen"
                                : "#version = :read AND attribute_not_exists(#since)")
                        .expressionAttributeNames(
                            Map.of(
                                "#since", LimitRow.EMPTY_SINCE,
                                "#until", LimitRow.EMPTY_UNTIL,
                                "#held", LimitRow.EMPTY_HELD,
                                "#version", LimitRow.VERSION))
                        .expressionAttributeValues(values)));
  }

  @Override
  public void forgetEmpty(BucketId id) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id.tenant());
    write(
        "DynamoDB UpdateItem of bucket " + id,
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(table)
                        .key(LimitRow.key(id))
                        .updateExpression("ADD #version :one REMOVE #since, #until, #held")
                        .conditionExpression("attribute_exists(#version)")
                        .expressionAttributeNames(
                            Map.of(
                                "#since", LimitRow.EMPTY_SINCE,
                                "#until", LimitRow.EMPTY_UNTIL,
                                "#held", LimitRow.EMPTY_HELD,
                                "#version", LimitRow.VERSION))
                        .expressionAttributeValues(Map.of(":one", Attribute.number(1)))));
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
                .flatMap(item -> LimitRow.findBucketId(new Row(item)).stream())
                .toList());
  }

  @Override
  public void remove(BucketId id) {
    remove(id.tenant(), "bucket " + id, LimitRow.key(id));
  }

  @Override
  public void removeStray(TenantId tenant, String name) {
    remove(tenant, "a stray row of " + tenant, LimitRow.key(tenant, name));
  }

  private void remove(TenantId id, String what, Map<String, AttributeValue> key) {
    AwsRequestOverrideConfiguration tenant = credentials.as(id);
    ask(
        "DynamoDB DeleteItem of " + what,
        () ->
            dynamoDb.deleteItem(
                request -> request.overrideConfiguration(tenant).tableName(table).key(key)));
  }
}
