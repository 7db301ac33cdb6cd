package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.LiveTenants;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;

/** The tenants that have a session rate in the Limit table. An index lists them. */
public final class DynamoDbLiveTenants implements LiveTenants {
  private final SessionTables tables;

  /** Live tenants in these tables. */
  public DynamoDbLiveTenants(SessionTables tables) {
    this.tables = tables;
  }

  /** Uses the function's own role, because the index spans tenants. */
  @Override
  public List<TenantId> list(Optional<TenantId> after, int max) {
    Map<String, String> names = new HashMap<>(Map.of("#live", LimitRow.LIVE));
    Map<String, AttributeValue> values = new HashMap<>(Map.of(":live", LimitRow.IS_LIVE));
    after.ifPresent(
        last -> {
          names.put("#tenant", LimitRow.TENANT);
          values.put(":after", Attribute.text(last.value()));
        });
    QueryRequest request =
        QueryRequest.builder()
            .tableName(tables.limits().name())
            .indexName(LimitRow.LIVE)
            .keyConditionExpression(
                "#live = :live" + (after.isPresent() ? " AND #tenant > :after" : ""))
            .expressionAttributeNames(names)
            .expressionAttributeValues(values)
            .limit(max)
            .build();
    return tables.query("DynamoDB Query of live tenants", request, max).stream()
        .map(row -> new TenantId(row.text(LimitRow.TENANT)))
        .toList();
  }

  @Override
  public Optional<Instant> nextArrival(TenantId tenant) {
    return tables
        .get(tenant, tables.limits(), LimitRow.key(tenant, LimitRow.SESSIONS))
        .map(row -> row.nanos(LimitRow.ARRIVAL));
  }

  @Override
  public WriteResult remove(TenantId tenant, Instant arrival) {
    return tables
        .limits()
        .delete(
            "the session rate of " + tenant,
            request ->
                request
                    .overrideConfiguration(tables.as(tenant))
                    .key(LimitRow.key(tenant, LimitRow.SESSIONS))
                    .conditionExpression("#arrival = :arrival")
                    .expressionAttributeNames(Map.of("#arrival", LimitRow.ARRIVAL))
                    .expressionAttributeValues(Map.of(":arrival", Attribute.nanos(arrival))));
  }
}
