package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** The switch as a row of the Tier table, with the function's own role. */
public final class DynamoDbAdmitAllSwitch implements AdmitAllSwitch {
  private static final Map<String, AttributeValue> KEY =
      Map.of(TierRow.NAME, Attribute.text(TierRow.ADMIT_ALL));
  private static final String SINCE = "since";
  private static final String UNTIL = "until";
  private static final String REASON = "reason";
  private static final String BY = "by";

  private final Table table;

  /** The switch in this table. */
  public DynamoDbAdmitAllSwitch(DynamoDbClient dynamoDb, String table) {
    this.table = new Table(dynamoDb, table);
  }

  @Override
  public Optional<AdmitAll> read() {
    return table
        .get("the switch", request -> request.key(KEY))
        .map(
            stored ->
                stored.read(
                    "the switch",
                    TierRow.ADMIT_ALL,
                    row ->
                        new AdmitAll(
                            row.nanos(SINCE), row.nanos(UNTIL), row.text(REASON), row.text(BY))));
  }

  @Override
  public void turnOn(AdmitAll state) {
    Map<String, AttributeValue> row = Row.withSchema(KEY);
    row.put(SINCE, Attribute.nanos(state.since()));
    row.put(UNTIL, Attribute.nanos(state.until()));
    row.put(REASON, Attribute.text(state.reason()));
    row.put(BY, Attribute.text(state.by()));
    table.put("the switch", request -> request.item(row));
  }

  @Override
  public void turnOff() {
    table.delete("the switch", request -> request.key(KEY));
  }
}
