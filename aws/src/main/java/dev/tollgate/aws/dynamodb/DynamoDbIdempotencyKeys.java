package dev.tollgate.aws.dynamodb;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
import dev.tollgate.core.idempotency.StoredResponse;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;

/**
 * Idempotency keys in the Idempotency table, with the function's own role. A row holds a claim or a
 * stored response. It is valid until {@code expiresAt}, in seconds since the epoch; DynamoDB
 * deletes it some time later.
 */
public final class DynamoDbIdempotencyKeys implements IdempotencyKeys {
  private static final String KEY = "key";
  private static final String FINGERPRINT = "fingerprint";
  private static final String OWNER = "owner";
  private static final String EXPIRES_AT = "expiresAt";
  private static final String STATUS = "status";
  private static final String HEADERS = "headers";
  private static final String BODY = "body";

  private final Table table;

  /** Keys in this table. */
  public DynamoDbIdempotencyKeys(DynamoDbClient dynamoDb, String table) {
    this.table = new Table(dynamoDb, table);
  }

  @Override
  public KeyUse claim(KeyClaim claim, Instant now) {
    return ask(
        "DynamoDB PutItem of a claim",
        () -> {
          try {
            table
                .dynamoDb()
                .putItem(
                    request ->
                        request
                            .tableName(table.name())
                            .item(row(claim, claim.endsAt()))
                            // The same owner: the SDK repeated the request because the response was
                            // lost.
                            .conditionExpression(
                                "attribute_not_exists(#key) OR #expiresAt <= :now"
                                    + " OR (#owner = :owner AND attribute_not_exists(#status))")
                            .expressionAttributeNames(
                                Map.of(
                                    "#key", KEY,
                                    "#expiresAt", EXPIRES_AT,
                                    "#owner", OWNER,
                                    "#status", STATUS))
                            .expressionAttributeValues(
                                Map.of(
                                    ":now", Attribute.number(now.getEpochSecond()),
                                    ":owner", Attribute.text(claim.owner())))
                            .returnValuesOnConditionCheckFailure(
                                ReturnValuesOnConditionCheckFailure.ALL_OLD));
            return new KeyUse.Claimed();
          } catch (ConditionalCheckFailedException inUse) {
            return use(new Row(inUse.item()), claim);
          }
        });
  }

  private static KeyUse use(Row stored, KeyClaim claim) {
    return stored.read("idempotency key", claim.key().value(), row -> read(row, claim));
  }

  private static KeyUse read(Row row, KeyClaim claim) {
    if (!row.text(FINGERPRINT).equals(claim.fingerprint())) {
      return new KeyUse.OtherRequest();
    }
    return row.has(STATUS)
        ? new KeyUse.Completed(
            new StoredResponse(
                Math.toIntExact(row.number(STATUS)), headers(row.map(HEADERS)), row.text(BODY)))
        : new KeyUse.InProgress(Instant.ofEpochSecond(row.number(EXPIRES_AT)));
  }

  private static Map<String, String> headers(Row row) {
    Map<String, String> headers = new TreeMap<>();
    row.attributes().keySet().forEach(name -> headers.put(name, row.text(name)));
    return headers;
  }

  @Override
  public WriteResult store(KeyClaim claim, StoredResponse answer, Instant until) {
    Map<String, AttributeValue> row = new HashMap<>(row(claim, until));
    row.put(STATUS, Attribute.number(answer.status()));
    row.put(HEADERS, Attribute.map(answer.headers(), Function.identity(), Attribute::text));
    row.put(BODY, Attribute.text(answer.body()));
    return table.put(
        "a response",
        request ->
            request
                .item(row)
                .conditionExpression("#owner = :owner")
                .expressionAttributeNames(Map.of("#owner", OWNER))
                .expressionAttributeValues(Map.of(":owner", Attribute.text(claim.owner()))));
  }

  @Override
  public void release(KeyClaim claim) {
    table.delete(
        "a claim",
        request ->
            request
                .key(key(claim.key()))
                .conditionExpression("#owner = :owner AND attribute_not_exists(#status)")
                .expressionAttributeNames(Map.of("#owner", OWNER, "#status", STATUS))
                .expressionAttributeValues(Map.of(":owner", Attribute.text(claim.owner()))));
  }

  private static Map<String, AttributeValue> row(KeyClaim claim, Instant expiresAt) {
    Map<String, AttributeValue> row = Row.withSchema(key(claim.key()));
    row.put(FINGERPRINT, Attribute.text(claim.fingerprint()));
    row.put(OWNER, Attribute.text(claim.owner()));
    row.put(EXPIRES_AT, Attribute.number(expiresAt.getEpochSecond()));
    return row;
  }

  private static Map<String, AttributeValue> key(IdempotencyKey key) {
    return Map.of(KEY, Attribute.text(key.value()));
  }
}
