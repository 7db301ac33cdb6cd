package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.connect.TenantActivity;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Totals in the row of the Limit table that counts a tenant's connections. */
public final class DynamoDbActivity implements Activity {
  private final Table table;
  private final Table once;
  private final TenantCredentials credentials;

  /**
   * Activity in this table.
   *
   * @param once never repeats a request: a repeated addition counts twice
   */
  public DynamoDbActivity(
      DynamoDbClient dynamoDb, DynamoDbClient once, String table, TenantCredentials credentials) {
    this.table = new Table(dynamoDb, table);
    this.once = new Table(once, table);
    this.credentials = credentials;
  }

  @Override
  public void addRefused(TenantId tenant, RefusalCounts refusals) {
    Map<String, String> names = new HashMap<>();
    Map<String, AttributeValue> values = new HashMap<>();
    Map<String, Long> counts = new TreeMap<>();
    counts.put(LimitRow.REFUSED, refusals.refused());
    refusals.byReason().forEach((why, count) -> counts.put(LimitRow.refused(why), count));
    refusals.wouldRefuse().forEach((why, count) -> counts.put(LimitRow.observed(why), count));
    names.put("#tenant", LimitRow.TENANT);
    counts.forEach(
        (attribute, count) -> {
          names.put("#" + attribute, attribute);
          values.put(":" + attribute, Attribute.number(count));
        });
    String added =
        counts.keySet().stream()
            .map(attribute -> "#" + attribute + " :" + attribute)
            .collect(Collectors.joining(", ", "ADD ", ""));
    StringBuilder set = new StringBuilder(" SET #lastAt = :lastAt");
    names.put("#lastAt", LimitRow.REFUSED_LAST_AT);
    values.put(":lastAt", Attribute.nanos(refusals.lastAt()));
    Map.of(
            LimitRow.TENANT_FULL_AT, refusals.tenantFullAt(),
            LimitRow.SESSION_FULL_AT, refusals.sessionFullAt())
        .forEach(
            (attribute, when) ->
                when.ifPresent(
                    at -> {
                      names.put("#" + attribute, attribute);
                      values.put(":" + attribute, Attribute.nanos(at));
                      set.append(", #" + attribute + " = :" + attribute);
                    }));
    once.update(
        "refusals of " + tenant,
        request ->
            request
                .overrideConfiguration(credentials.as(tenant))
                .key(LimitRow.key(tenant, LimitRow.CONNECTIONS))
                .updateExpression(added + set)
                .conditionExpression("attribute_exists(#tenant)")
                .expressionAttributeNames(names)
                .expressionAttributeValues(values));
  }

  @Override
  public TenantActivity of(TenantId tenant) {
    List<Row> rows =
        table.query(
            "the totals of " + tenant,
            request ->
                request
                    .overrideConfiguration(credentials.as(tenant))
                    // The keys of buckets and of the count, which exclude the log of
                    // messages.
                    .keyConditionExpression("#tenant = :tenant AND #key BETWEEN :first AND :last")
                    .expressionAttributeNames(
                        Map.of("#tenant", LimitRow.TENANT, "#key", LimitRow.KEY))
                    .expressionAttributeValues(
                        Map.of(
                            ":tenant", Attribute.text(tenant.value()),
                            ":first", Attribute.text(LimitRow.BUCKET_PREFIX),
                            ":last", Attribute.text(LimitRow.CONNECTIONS))));
    Optional<Row> count =
        rows.stream().filter(row -> row.text(LimitRow.KEY).equals(LimitRow.CONNECTIONS)).findAny();
    return new TenantActivity(
        LimitRow.count(count),
        LimitRow.total(count, LimitRow.ADMITTED),
        LimitRow.total(count, LimitRow.WITHOUT_TOKEN),
        LimitRow.admittedLastAt(count),
        LimitRow.total(count, LimitRow.REFUSED),
        rows.stream().filter(LimitRow::isBucket).map(LimitRow::bucket).toList());
  }
}
