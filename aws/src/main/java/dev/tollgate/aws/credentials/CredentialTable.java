package dev.tollgate.aws.credentials;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/**
 * The Credentials table. A row's key is the name of the tenant role and the tenant, so that a
 * policy can restrict a function to the rows of its own tenant role. Requests use the function's
 * own role.
 *
 * <p>After a failed request the table is not asked for {@link #PAUSE}: a request waits for it at
 * most once in that time.
 */
public final class CredentialTable implements CredentialStore {
  private static final Duration PAUSE = Duration.ofSeconds(10);

  private static final String KEY = "key";
  private static final String ENDS_AT = "endsAt";
  private static final String RENEWED_UNTIL = "renewedUntil";

  private final DynamoDbClient dynamoDb;
  private final String table;
  private final String roleName;
  private final CredentialFailures failures;
  private final InstantSource clock;
  private volatile Instant pausedUntil = Instant.MIN;

  /**
   * The rows of one tenant role.
   *
   * @param dynamoDb a client that gives up soon, because a request of a tenant waits for it
   */
  public CredentialTable(
      DynamoDbClient dynamoDb,
      String table,
      String roleArn,
      CredentialFailures failures,
      InstantSource clock) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.roleName = roleArn.substring(roleArn.lastIndexOf('/') + 1);
    this.failures = failures;
    this.clock = clock;
  }

  @Override
  public Optional<TemporaryCredentials> find(TenantId tenant) {
    return ask(() -> dynamoDb.getItem(r -> r.tableName(table).key(key(tenant))).item())
        .filter(item -> !item.isEmpty())
        .flatMap(item -> read(tenant, new Row(item)));
  }

  /** An unreadable row counts as none; the next write replaces it. */
  private static Optional<TemporaryCredentials> read(TenantId tenant, Row row) {
    try {
      return Optional.of(
          row.read(
              "the credentials of",
              tenant,
              found ->
                  new TemporaryCredentials(
                      found.text("accessKeyId"),
                      found.text("secretAccessKey"),
                      found.text("sessionToken"),
                      Instant.ofEpochSecond(found.number(ENDS_AT)))));
    } catch (UnreadableRow unreadable) {
      return Optional.empty();
    }
  }

  @Override
  public boolean claimRenewal(TenantId tenant, Instant endsAt, Instant now) {
    return ask(() -> wins(tenant, endsAt, now)).orElse(false);
  }

  private boolean wins(TenantId tenant, Instant endsAt, Instant now) {
    try {
      dynamoDb.updateItem(
          request ->
              request
                  .tableName(table)
                  .key(key(tenant))
                  .updateExpression("SET #renewed = :until")
                  .conditionExpression(
                      "#ends = :ends AND (attribute_not_exists(#renewed) OR #renewed <= :now)")
                  .expressionAttributeNames(Map.of("#renewed", RENEWED_UNTIL, "#ends", ENDS_AT))
                  .expressionAttributeValues(
                      Map.of(
                          ":ends", seconds(endsAt),
                          ":now", seconds(now),
                          ":until", seconds(now.plusSeconds(RENEWAL_SECONDS)))));
      return true;
    } catch (ConditionalCheckFailedException anothers) {
      return false;
    }
  }

  @Override
  public void store(TenantId tenant, TemporaryCredentials credentials) {
    Map<String, AttributeValue> row =
        Row.withSchema(
            Map.of(
                KEY,
                Attribute.text(name(tenant)),
                "accessKeyId",
                Attribute.text(credentials.accessKeyId()),
                "secretAccessKey",
                Attribute.text(credentials.secretAccessKey()),
                "sessionToken",
                Attribute.text(credentials.sessionToken()),
                ENDS_AT,
                seconds(credentials.endsAt())));
    ask(() -> dynamoDb.putItem(request -> request.tableName(table).item(row)));
  }

  private <T> Optional<T> ask(Supplier<T> request) {
    Instant now = clock.instant();
    if (now.isBefore(pausedUntil)) {
      return Optional.empty();
    }
    try {
      return Optional.of(request.get());
    } catch (SdkException unavailable) {
      pausedUntil = now.plus(PAUSE);
      failures.count(CredentialFailures.Source.TABLE, String.valueOf(unavailable.getMessage()));
      return Optional.empty();
    }
  }

  private Map<String, AttributeValue> key(TenantId tenant) {
    return Map.of(KEY, Attribute.text(name(tenant)));
  }

  private String name(TenantId tenant) {
    return roleName + "/" + tenant;
  }

  private static AttributeValue seconds(Instant instant) {
    return Attribute.number(instant.getEpochSecond());
  }
}
