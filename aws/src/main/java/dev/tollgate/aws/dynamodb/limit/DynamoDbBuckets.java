package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Buckets in the Limit table. The due buckets of a shard come from an index, which is queried with
 * the function's own role because it spans tenants.
 */
public final class DynamoDbBuckets implements Buckets {
  /**
   * Whether the hint's version is still the one that was read. Rows of older releases have none.
   */
  private static final String SAME_HINT_VERSION =
      "(attribute_not_exists(#emptyVersion) OR #emptyVersion = :readVersion)";

  private static final Map<String, String> HINT_NAMES =
      Map.of(
          "#tenant", LimitRow.TENANT,
          "#since", LimitRow.EMPTY_SINCE,
          "#until", LimitRow.EMPTY_UNTIL,
          "#held", LimitRow.EMPTY_HELD,
          "#emptyVersion", LimitRow.EMPTY_VERSION);

  private final DynamoDbClient dynamoDb;
  private final Table table;
  private final TenantCredentials credentials;

  public DynamoDbBuckets(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = new Table(dynamoDb, table);
    this.credentials = credentials;
  }

  @Override
  public Optional<Bucket> find(BucketId id) {
    return get(id).map(LimitRow::bucket);
  }

  private Optional<Row> get(BucketId id) {
    return table.get(
        "bucket " + id,
        request ->
            request.overrideConfiguration(credentials.as(id.tenant())).key(LimitRow.key(id)));
  }

  @Override
  public BucketRows list(TenantId id) {
    List<Row> rows =
        table.query(
            "the buckets of " + id,
            request ->
                request
                    .overrideConfiguration(credentials.as(id))
                    .keyConditionExpression("#tenant = :tenant AND begins_with(#key, :key)")
                    .expressionAttributeNames(
                        Map.of("#tenant", LimitRow.TENANT, "#key", LimitRow.KEY))
                    .expressionAttributeValues(
                        Map.of(
                            ":tenant", Attribute.text(id.value()),
                            ":key", Attribute.text(LimitRow.BUCKET_PREFIX))));
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
    return table.put(
        "bucket " + bucket.id(),
        request ->
            request
                .overrideConfiguration(credentials.as(bucket.id().tenant()))
                .item(LimitRow.write(bucket))
                .conditionExpression("attribute_not_exists(#tenant)")
                .expressionAttributeNames(Map.of("#tenant", LimitRow.TENANT)));
  }

  /**
   * Each write stores a random id in the row. If the response is lost and the SDK repeats the
   * write, the repetition finds that id and is not a conflict. The line, which other requests
   * change, is left as it is.
   */
  @Override
  public WriteResult replace(Bucket next) {
    AttributeValue write = Attribute.text(UUID.randomUUID().toString());
    Map<String, AttributeValue> item = new HashMap<>(LimitRow.write(next));
    item.keySet().removeAll(List.of(LimitRow.TENANT, LimitRow.KEY, LimitRow.LINE));
    item.put(LimitRow.WRITE, write);
    UpdateItemRequest request =
        replacing(item, next)
            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
            .build();
    try {
      return ask(
          "DynamoDB UpdateItem of bucket " + next.id(), () -> replace(next.id(), request, write));
    } catch (Unavailable lost) {
      return findWrite(next.id(), write).orElseThrow(() -> lost);
    }
  }

  /** Sets these attributes, and removes the bucket's other ones except its line. */
  private UpdateItemRequest.Builder replacing(Map<String, AttributeValue> item, Bucket next) {
    Map<String, String> names = new HashMap<>();
    Map<String, AttributeValue> values = new HashMap<>();
    item.forEach(
        (name, value) -> {
          names.put("#" + name, name);
          values.put(":" + name, value);
        });
    String set =
        item.keySet().stream()
            .map(name -> "#" + name + " = :" + name)
            .collect(Collectors.joining(", "));
    List<String> missing =
        LimitRow.BUCKET_OPTIONS.stream().filter(name -> !item.containsKey(name)).toList();
    missing.forEach(name -> names.put("#" + name, name));
    String remove = missing.stream().map(name -> "#" + name).collect(Collectors.joining(", "));
    values.put(":before", Attribute.number(next.version() - 1));
    values.put(":readVersion", Attribute.number(next.hintVersion() - 1));
    return updateRow(next.id())
        .updateExpression("SET " + set + (remove.isEmpty() ? "" : " REMOVE " + remove))
        .conditionExpression("#version = :before AND " + SAME_HINT_VERSION)
        .expressionAttributeNames(names)
        .expressionAttributeValues(values);
  }

  private WriteResult replace(BucketId id, UpdateItemRequest request, AttributeValue write) {
    try {
      dynamoDb.updateItem(request);
      return WriteResult.DONE;
    } catch (ConditionalCheckFailedException failed) {
      return failed.hasItem() && write.equals(failed.item().get(LimitRow.WRITE))
          ? WriteResult.DONE
          : conflict(id, failed);
    } catch (DynamoDbException invalid) {
      if (!isTooLarge(invalid)) {
        throw invalid;
      }
      // Programs that claim tokens may write the hint and the line, of any size.
      remove(id, List.of(LimitRow.LINE, LimitRow.FREED));
      return WriteResult.CONFLICT;
    }
  }

  /** Whether the row would exceed 400 KB (DynamoDB Developer Guide, Constraints). */
  private static boolean isTooLarge(DynamoDbException failure) {
    return failure.statusCode() == 400
        && String.valueOf(failure.getMessage()).contains("Item size");
  }

  /**
   * A conflict. Programs that claim tokens may write anything into the hint. One that cannot be
   * read is removed, so that the next attempt succeeds.
   */
  private WriteResult conflict(BucketId id, ConditionalCheckFailedException failed) {
    if (LimitRow.hasUnreadableHint(new Row(failed.item()))) {
      forgetEmpty(id);
    }
    return WriteResult.CONFLICT;
  }

  /**
   * Looks for the write whose response was lost; empty if the row shows another write or cannot be
   * read.
   */
  private Optional<WriteResult> findWrite(BucketId id, AttributeValue write) {
    try {
      return get(id)
          .filter(row -> write.equals(row.attributes().get(LimitRow.WRITE)))
          .map(done -> WriteResult.DONE);
    } catch (Unavailable unreadable) {
      return Optional.empty();
    }
  }

  @Override
  public WriteResult rememberEmpty(Bucket read, EmptyHint found) {
    Map<String, AttributeValue> values = new HashMap<>();
    LimitRow.write(found).forEach((name, value) -> values.put(":" + name, value));
    values.put(":readVersion", Attribute.number(read.hintVersion()));
    read.emptyHint().ifPresent(seen -> values.put(":seen", Attribute.nanos(seen.since())));
    UpdateItemRequest request =
        updateRow(read.id())
            .expressionAttributeNames(HINT_NAMES)
            .updateExpression("SET #since = :emptySince, #until = :emptyUntil, #held = :emptyHeld")
            .conditionExpression(
                "attribute_exists(#tenant) AND "
                    + SAME_HINT_VERSION
                    + (read.emptyHint().isPresent()
                        ? " AND #since = :seen"
                        : " AND attribute_not_exists(#since)"))
            .expressionAttributeValues(values)
            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
            .build();
    return ask(
        "DynamoDB UpdateItem of bucket " + read.id(),
        () -> {
          try {
            dynamoDb.updateItem(request);
            return WriteResult.DONE;
          } catch (ConditionalCheckFailedException failed) {
            return conflict(read.id(), failed);
          }
        });
  }

  /**
   * Stores a new version, which does not depend on the one in the row, since that may be broken.
   */
  @Override
  public void forgetEmpty(BucketId id) {
    remove(id, List.of());
  }

  /** Stores a new version of the hint, and removes the hint and these attributes. */
  private void remove(BucketId id, List<String> others) {
    Map<String, String> names = new HashMap<>(HINT_NAMES);
    others.forEach(name -> names.put("#" + name, name));
    String removed = others.stream().map(name -> ", #" + name).collect(Collectors.joining());
    long version = UUID.randomUUID().getMostSignificantBits() >>> 4;
    UpdateItemRequest request =
        updateRow(id)
            .updateExpression("SET #emptyVersion = :version REMOVE #since, #until, #held" + removed)
            .conditionExpression("attribute_exists(#tenant)")
            .expressionAttributeNames(names)
            .expressionAttributeValues(Map.of(":version", Attribute.number(version)))
            .build();
    write("DynamoDB UpdateItem of bucket " + id, () -> dynamoDb.updateItem(request));
  }

  @Override
  public Optional<Line> changeLine(BucketId id, Optional<Line> read, Line next) {
    return read.isPresent() ? changeLine(id, read.get(), next) : openLine(id, next);
  }

  private Optional<Line> openLine(BucketId id, Line next) {
    return updateLine(
            id,
            request ->
                request
                    .updateExpression("SET #line = :next")
                    .conditionExpression(
                        "attribute_exists(#tenant) AND attribute_not_exists(#line)")
                    .expressionAttributeNames(
                        Map.of("#line", LimitRow.LINE, "#tenant", LimitRow.TENANT))
                    .expressionAttributeValues(Map.of(":next", Attribute.map(LimitRow.write(next))))
                    .returnValuesOnConditionCheckFailure(
                        ReturnValuesOnConditionCheckFailure.ALL_OLD))
        .map(next::withIssued);
  }

  private Optional<Line> changeLine(BucketId id, Line read, Line next) {
    Map<String, AttributeValue> before = new TreeMap<>(LimitRow.write(read));
    Map<String, AttributeValue> after = new TreeMap<>(LimitRow.write(next));
    Map<String, String> names = lineNames(after.keySet());
    // Older releases wrote no earlier rate. It changes only with the rate, the anchor or its time.
    before.remove(LimitRow.LINE_BEFORE);
    if (read.epoch() == next.epoch()) {
      before.remove(LimitRow.LINE_ISSUED);
    }
    after.remove(LimitRow.LINE_ISSUED);
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":taken", Attribute.number(next.issued() - read.issued()));
    before.forEach((name, value) -> values.put(":before_" + name, value));
    after.forEach((name, value) -> values.put(":after_" + name, value));
    String changes =
        after.keySet().stream()
            .map(name -> ", #line.#" + name + " = :after_" + name)
            .collect(Collectors.joining());
    String unchanged =
        before.keySet().stream()
            .map(name -> "#line.#" + name + " = :before_" + name)
            .collect(Collectors.joining(" AND "));
    return updateLine(
            id,
            request ->
                request
                    .updateExpression("SET #line.#issued = #line.#issued + :taken" + changes)
                    .conditionExpression(unchanged)
                    .expressionAttributeNames(names)
                    .expressionAttributeValues(values))
        .map(next::withIssued);
  }

  @Override
  public Optional<Line> takePlaces(BucketId id, Line read, int count) {
    return updateLine(
            id,
            request ->
                request
                    .updateExpression("SET #line.#issued = #line.#issued + :count")
                    .conditionExpression("#line.#epoch = :epoch")
                    .expressionAttributeNames(
                        lineNames(Set.of(LimitRow.LINE_ISSUED, LimitRow.LINE_EPOCH)))
                    .expressionAttributeValues(
                        Map.of(
                            ":count", Attribute.number(count),
                            ":epoch", Attribute.number(read.epoch()))))
        .map(read::withIssued);
  }

  @Override
  public WriteResult clearLine(BucketId id, Line read, Instant now) {
    return updateLine(
                id,
                request ->
                    request
                        .updateExpression("SET #line = :cleared")
                        .conditionExpression("#line.#epoch = :epoch")
                        .expressionAttributeNames(lineNames(Set.of(LimitRow.LINE_EPOCH)))
                        .expressionAttributeValues(
                            Map.of(
                                ":cleared", Attribute.map(LimitRow.write(read.cleared(now))),
                                ":epoch", Attribute.number(read.epoch()))))
            .isPresent()
        ? WriteResult.DONE
        : WriteResult.CONFLICT;
  }

  @Override
  public void freePlace(BucketId id, Place place) {
    UpdateItemRequest request =
        updateRow(id)
            .updateExpression("ADD #freed :place")
            .conditionExpression(
                "attribute_exists(#tenant) AND (attribute_not_exists(#freed)"
                    + " OR (attribute_type(#freed, :set) AND size(#freed) < :max))")
            .expressionAttributeNames(Map.of("#tenant", LimitRow.TENANT, "#freed", LimitRow.FREED))
            .expressionAttributeValues(
                Map.of(
                    ":place", AttributeValue.fromSs(List.of(LimitRow.freedName(place))),
                    ":set", Attribute.text("SS"),
                    ":max", Attribute.number(Line.MAX_FREED)))
            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
            .build();
    ask(
        "DynamoDB UpdateItem of bucket " + id,
        () -> {
          try {
            return dynamoDb.updateItem(request);
          } catch (ConditionalCheckFailedException failed) {
            LimitRow.unreadableFreed(new Row(failed.item()))
                .ifPresent(names -> removeUnreadable(id, LimitRow.FREED, names));
            return failed;
          }
        });
  }

  @Override
  public WriteResult takeFreed(BucketId id, Place place, Set<Place> passed) {
    Set<String> gone = passed.stream().map(LimitRow::freedName).collect(Collectors.toSet());
    gone.add(LimitRow.freedName(place));
    UpdateItemRequest request =
        updateRow(id)
            .updateExpression("DELETE #freed :gone")
            .conditionExpression("contains(#freed, :place)")
            .expressionAttributeNames(Map.of("#freed", LimitRow.FREED))
            .expressionAttributeValues(
                Map.of(
                    ":gone", AttributeValue.fromSs(List.copyOf(gone)),
                    ":place", Attribute.text(LimitRow.freedName(place))))
            .build();
    return write("DynamoDB UpdateItem of bucket " + id, () -> dynamoDb.updateItem(request));
  }

  @Override
  public WriteResult takeSpare(BucketId id, long epoch, Instant now) {
    return updateLine(
                id,
                request ->
                    request
                        .updateExpression(
                            "SET #line.#spare = #line.#spare - :one, #line.#spareTakenAt = :now,"
                                + " #line.#issued = #line.#issued + :zero")
                        .conditionExpression("#line.#epoch = :epoch AND #line.#spare >= :one")
                        .expressionAttributeNames(
                            lineNames(
                                Set.of(
                                    LimitRow.LINE_EPOCH,
                                    LimitRow.LINE_ISSUED,
                                    LimitRow.LINE_SPARE,
                                    LimitRow.LINE_SPARE_TAKEN_AT)))
                        .expressionAttributeValues(
                            Map.of(
                                ":zero", Attribute.number(0),
                                ":one", Attribute.number(1),
                                ":epoch", Attribute.number(epoch),
                                ":now", Attribute.nanos(now))))
            .isPresent()
        ? WriteResult.DONE
        : WriteResult.CONFLICT;
  }

  private static Map<String, String> lineNames(Set<String> names) {
    Map<String, String> all = new HashMap<>();
    names.forEach(name -> all.put("#" + name, name));
    all.put("#line", LimitRow.LINE);
    return all;
  }

  /** Sends an update of a line; returns its last number, or nothing if the condition fails. */
  private Optional<Long> updateLine(BucketId id, UnaryOperator<UpdateItemRequest.Builder> update) {
    UpdateItemRequest request =
        update.apply(updateRow(id).returnValues(ReturnValue.UPDATED_NEW)).build();
    return ask(
        "DynamoDB UpdateItem of the line of bucket " + id,
        () -> {
          try {
            Row updated = new Row(dynamoDb.updateItem(request).attributes());
            return Optional.of(updated.map(LimitRow.LINE).number(LimitRow.LINE_ISSUED));
          } catch (ConditionalCheckFailedException failed) {
            LimitRow.unreadableLine(new Row(failed.item()))
                .ifPresent(line -> removeUnreadable(id, LimitRow.LINE, line));
            return Optional.empty();
          }
        });
  }

  /** Removes a line or freed places that cannot be read, so that the next caller can write them. */
  private void removeUnreadable(BucketId id, String name, AttributeValue unreadable) {
    UpdateItemRequest request =
        updateRow(id)
            .updateExpression("REMOVE #name")
            .conditionExpression("#name = :unreadable")
            .expressionAttributeNames(Map.of("#name", name))
            .expressionAttributeValues(Map.of(":unreadable", unreadable))
            .build();
    write("DynamoDB UpdateItem of bucket " + id, () -> dynamoDb.updateItem(request));
  }

  private UpdateItemRequest.Builder updateRow(BucketId id) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(credentials.as(id.tenant()))
        .tableName(table.name())
        .key(LimitRow.key(id));
  }

  @Override
  public Page<BucketId> due(Shard shard, Instant now, Optional<String> cursor, int max) {
    QueryRequest.Builder request =
        QueryRequest.builder()
            .tableName(table.name())
            .indexName(LimitRow.SHARD)
            .limit(max)
            .keyConditionExpression("#shard = :shard AND #turn <= :now")
            .expressionAttributeNames(Map.of("#shard", LimitRow.SHARD, "#turn", LimitRow.TURN_AT))
            .expressionAttributeValues(
                Map.of(":shard", Attribute.text(shard.toString()), ":now", Attribute.nanos(now)));
    cursor.ifPresent(last -> request.exclusiveStartKey(LimitRow.shardKey(shard, last)));
    QueryResponse page =
        ask("DynamoDB Query of the buckets of " + shard, () -> dynamoDb.query(request.build()));
    return new Page<>(
        page.items().stream()
            .flatMap(item -> LimitRow.findBucketId(new Row(item)).stream())
            .toList(),
        page.hasLastEvaluatedKey()
            ? Optional.of(LimitRow.shardCursor(new Row(page.lastEvaluatedKey())))
            : Optional.empty());
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
    table.delete(what, request -> request.overrideConfiguration(credentials.as(id)).key(key));
  }
}
