package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
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
  private final Supplier<Author> author;

  /**
   * The switch in this table.
   *
   * @param author who turns it
   */
  public DynamoDbAdmitAllSwitch(DynamoDbClient dynamoDb, String table, Supplier<Author> author) {
    this.table = new Table(dynamoDb, table);
    this.author = author;
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
    table.put("the switch", request -> request.item(Authorship.sign(row, author.get())));
  }

  /** The author is written first: a deleted row cannot name who deleted it. */
  @Override
  public void turnOff() {
    table.update(
        "the switch",
        request ->
            Authorship.signRemoval(
                    request, author.get(), TierRow.NAME, Attribute.text(TierRow.ADMIT_ALL))
                .key(KEY));
    table.delete("the switch", request -> request.key(KEY));
  }
}
