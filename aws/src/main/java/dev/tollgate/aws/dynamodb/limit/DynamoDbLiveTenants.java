package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.LiveTenants;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;

/** The tenants that have a session rate in the Limit table. An index lists them. */
public final class DynamoDbLiveTenants implements LiveTenants {
  private final SessionTables tables;

  /** Live tenants in these tables. */
  public DynamoDbLiveTenants(SessionTables tables) {
    this.tables = tables;
  }

  /** Uses the function's own role, because the index spans tenants. */
  @Override
  public List<TenantId> list() {
    return ask(
        "DynamoDB Query of live tenants",
        () ->
            tables
                .dynamoDb()
                .queryPaginator(
                    request ->
                        request
                            .tableName(tables.limits())
                            .indexName(LimitRow.LIVE)
                            .keyConditionExpression("#live = :live")
                            .expressionAttributeNames(Map.of("#live", LimitRow.LIVE))
                            .expressionAttributeValues(Map.of(":live", LimitRow.IS_LIVE)))
                .items()
                .stream()
                .map(item -> new TenantId(new Row(item).text(LimitRow.TENANT)))
                .toList());
  }

  @Override
  public Optional<Instant> nextArrival(TenantId tenant) {
    return tables
        .get(tenant, tables.limits(), LimitRow.key(tenant, LimitRow.SESSIONS))
        .map(row -> row.nanos(LimitRow.ARRIVAL));
  }

  @Override
  public WriteResult remove(TenantId tenant, Instant arrival) {
    AwsRequestOverrideConfiguration configuration = tables.as(tenant);
    return write(
        "DynamoDB DeleteItem of the session rate of " + tenant,
        () ->
            tables
                .dynamoDb()
                .deleteItem(
                    request ->
                        request
                            .overrideConfiguration(configuration)
                            .tableName(tables.limits())
                            .key(LimitRow.key(tenant, LimitRow.SESSIONS))
                            .conditionExpression("#arrival = :arrival")
                            .expressionAttributeNames(Map.of("#arrival", LimitRow.ARRIVAL))
                            .expressionAttributeValues(
                                Map.of(":arrival", Attribute.nanos(arrival)))));
  }
}
