package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;
import static dev.tollgate.aws.Asking.write;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Written;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.TierName;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ScanResponse;

/**
 * Tenants in the Tenant table, under the function's own role: whoever manages tenants is not one.
 */
final class DynamoDbTenants implements Tenants {
  private static final String BY_TIER = "byTier";

  private final DynamoDbClient dynamoDb;
  private final String table;

  DynamoDbTenants(DynamoDbClient dynamoDb, String table) {
    this.dynamoDb = dynamoDb;
    this.table = table;
  }

  @Override
  public Optional<Tenant> find(TenantId id) {
    Map<String, AttributeValue> item =
        ask(
            "DynamoDB GetItem of tenant " + id,
            () ->
                dynamoDb
                    .getItem(
                        request ->
                            request.tableName(table).key(TenantRow.key(id)).consistentRead(true))
                    .item());
    return item.isEmpty() ? Optional.empty() : Optional.of(TenantRow.read(new Row(item)));
  }

  @Override
  public Written create(Tenant tenant) {
    return write(
        "DynamoDB PutItem of tenant " + tenant.id(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .tableName(table)
                        .item(TenantRow.write(tenant))
                        .conditionExpression("attribute_not_exists(#id)")
                        .expressionAttributeNames(Map.of("#id", TenantRow.ID))));
  }

  @Override
  public Written replace(Tenant next) {
    return write(
        "DynamoDB PutItem of tenant " + next.id(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .tableName(table)
                        .item(TenantRow.write(next))
                        .conditionExpression("#version = :before")
                        .expressionAttributeNames(Map.of("#version", TenantRow.VERSION))
                        .expressionAttributeValues(
                            Map.of(":before", Attribute.number(next.version() - 1)))));
  }

  @Override
  public void markObserved(TenantId id, long version) {
    write(
        "DynamoDB UpdateItem of tenant " + id,
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .tableName(table)
                        .key(TenantRow.key(id))
                        .updateExpression("SET #observed = :version REMOVE #pending")
                        .conditionExpression("#version = :version")
                        .expressionAttributeNames(
                            Map.of(
                                "#observed",
                                TenantRow.OBSERVED_VERSION,
                                "#pending",
                                TenantRow.PENDING,
                                "#version",
                                TenantRow.VERSION))
                        .expressionAttributeValues(Map.of(":version", Attribute.number(version)))));
  }

  @Override
  public Written remove(TenantId id, long version) {
    return write(
        "DynamoDB DeleteItem of tenant " + id,
        () ->
            dynamoDb.deleteItem(
                request ->
                    request
                        .tableName(table)
                        .key(TenantRow.key(id))
                        .conditionExpression("attribute_not_exists(#id) OR #version = :version")
                        .expressionAttributeNames(
                            Map.of("#id", TenantRow.ID, "#version", TenantRow.VERSION))
                        .expressionAttributeValues(Map.of(":version", Attribute.number(version)))));
  }

  @Override
  public Page<Tenant> list(Optional<String> cursor, int most) {
    Map<String, AttributeValue> start =
        cursor.map(after -> TenantRow.key(tenantAt(after))).orElse(Map.of());
    ScanResponse part =
        ask(
            "DynamoDB Scan of tenants",
            () ->
                dynamoDb.scan(
                    request ->
                        request
                            .tableName(table)
                            .limit(most)
                            .consistentRead(true)
                            .exclusiveStartKey(start.isEmpty() ? null : start)));
    return page(part.items(), part.lastEvaluatedKey());
  }

  @Override
  public Page<Tenant> inTier(TierName tier, Optional<String> cursor, int most) {
    Map<String, AttributeValue> start =
        cursor
            .map(
                after ->
                    Map.of(
                        TenantRow.ID,
                        Attribute.text(tenantAt(after).value()),
                        TenantRow.TIER,
                        Attribute.text(tier.value())))
            .orElse(Map.of());
    QueryResponse part =
        ask(
            "DynamoDB Query of the tenants in " + tier,
            () ->
                dynamoDb.query(
                    request ->
                        request
                            .tableName(table)
                            .indexName(BY_TIER)
                            .keyConditionExpression("#tier = :tier")
                            .expressionAttributeNames(Map.of("#tier", TenantRow.TIER))
                            .expressionAttributeValues(
                                Map.of(":tier", Attribute.text(tier.value())))
                            .limit(most)
                            .exclusiveStartKey(start.isEmpty() ? null : start)));
    return page(part.items(), part.lastEvaluatedKey());
  }

  @Override
  public List<TenantId> unsettled(int most) {
    return ask(
        "DynamoDB Query of unsettled tenants",
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .tableName(table)
                            .indexName(TenantRow.PENDING)
                            .keyConditionExpression("#pending = :pending")
                            .expressionAttributeNames(Map.of("#pending", TenantRow.PENDING))
                            .expressionAttributeValues(Map.of(":pending", TenantRow.IS_PENDING))
                            .limit(most))
                .items()
                .stream()
                .limit(most)
                .map(item -> new TenantId(new Row(item).text(TenantRow.ID)))
                .toList());
  }

  /** A cursor is the name of the last tenant of the part before it. */
  private static TenantId tenantAt(String cursor) {
    try {
      return new TenantId(cursor);
    } catch (InvalidValue invalid) {
      throw new InvalidValue("cursor", cursor, "what a part before gave as next");
    }
  }

  private static Page<Tenant> page(
      List<Map<String, AttributeValue>> items, Map<String, AttributeValue> last) {
    return new Page<>(
        items.stream().map(item -> TenantRow.read(new Row(item))).toList(),
        last.isEmpty() ? Optional.empty() : Optional.of(new Row(last).text(TenantRow.ID)));
  }
}
