package dev.tollgate.aws.dynamodb.tenant;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.condition.TenantCondition;
import dev.tollgate.core.tenant.Limit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Conditions of tenants as rows of the Tier table, with the function's own role. */
public final class DynamoDbConditions implements Conditions {
  static final String ADMITTED = "admitted";
  static final String REFUSED = "refused";
  static final String NEAR = "near";

  private final DynamoDbClient dynamoDb;
  private final Table table;
  private final Supplier<Author> author;

  /**
   * Conditions in this table.
   *
   * @param author who finds them
   */
  public DynamoDbConditions(DynamoDbClient dynamoDb, String table, Supplier<Author> author) {
    this.dynamoDb = dynamoDb;
    this.table = new Table(dynamoDb, table);
    this.author = author;
  }

  @Override
  public List<TenantCondition> list() {
    return ask(
        "DynamoDB Scan of conditions",
        () ->
            dynamoDb
                .scanPaginator(
                    request ->
                        request
                            .tableName(table.name())
                            .consistentRead(true)
                            .filterExpression("begins_with(#key, :prefix)")
                            .expressionAttributeNames(Map.of("#key", TierRow.NAME))
                            .expressionAttributeValues(
                                Map.of(":prefix", Attribute.text(TierRow.CONDITION))))
                .items()
                .stream()
                .map(Row::new)
                .flatMap(row -> row.readable(DynamoDbConditions::condition).stream())
                .toList());
  }

  private static TenantCondition condition(Row row) {
    return new TenantCondition(
        tenant(row.text(TierRow.NAME)),
        row.optional(REFUSED, row::number)
            .map(refused -> new TenantCondition.Throttling(row.number(ADMITTED), refused)),
        new TreeMap<>(row.map(NEAR, Limit::named, Row::number)));
  }

  /**
   * The tenant of a key.
   *
   * @throws InvalidValue if it is no valid id
   */
  static TenantId tenant(String key) {
    return new TenantId(key.substring(TierRow.CONDITION.length()));
  }

  @Override
  public void put(TenantCondition condition) {
    String tenant = condition.tenant().value();
    Map<String, AttributeValue> key =
        Map.of(TierRow.NAME, Attribute.text(TierRow.CONDITION + tenant));
    String what = "the condition of " + tenant;
    if (condition.isOrdinary()) {
      table.delete(what, request -> request.key(key));
      return;
    }
    Map<String, AttributeValue> row = Row.withSchema(key);
    condition
        .throttled()
        .ifPresent(
            since -> {
              row.put(ADMITTED, Attribute.number(since.admitted()));
              row.put(REFUSED, Attribute.number(since.refused()));
            });
    row.put(NEAR, Attribute.map(condition.near(), Limit::key, Attribute::number));
    table.put(what, request -> request.item(Authorship.sign(row, author.get())));
  }
}
