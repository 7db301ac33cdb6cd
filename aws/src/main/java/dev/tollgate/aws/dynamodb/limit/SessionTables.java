package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.BatchGet;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * The Session and the Limit table, with the requests that sessions, connections and live tenants
 * share. All of them run with the credentials of the row's tenant.
 */
public final class SessionTables {
  /** The most attempts at a write that other writers invalidate. */
  static final int MAX_ATTEMPTS = 5;

  private final DynamoDbClient dynamoDb;
  private final DynamoDbClient once;
  private final Table sessions;
  private final Table limits;
  private final TenantCredentials credentials;

  /**
   * These tables.
   *
   * @param once never repeats a request: a repeated count counts twice, and a repeated join finds
   *     the connection already joined
   * @param sessions name of the Session table
   * @param limits name of the Limit table
   */
  public SessionTables(
      DynamoDbClient dynamoDb,
      DynamoDbClient once,
      String sessions,
      String limits,
      TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.once = once;
    this.sessions = new Table(dynamoDb, sessions);
    this.limits = new Table(dynamoDb, limits);
    this.credentials = credentials;
  }

  DynamoDbClient dynamoDb() {
    return dynamoDb;
  }

  Table sessions() {
    return sessions;
  }

  Table limits() {
    return limits;
  }

  AwsRequestOverrideConfiguration as(TenantId tenant) {
    return credentials.as(tenant);
  }

  /** An update of a session's row. */
  UpdateItemRequest.Builder updateSession(TenantId tenant, SessionId id) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(as(tenant))
        .tableName(sessions.name())
        .key(SessionRow.key(tenant, id));
  }

  /** Reads a row consistently; empty if it does not exist. */
  Optional<Row> get(TenantId tenant, Table table, Map<String, AttributeValue> key) {
    return table.get(tenant.value(), request -> request.overrideConfiguration(as(tenant)).key(key));
  }

  /** Reads rows of a tenant consistently. Requests keys that DynamoDB leaves unprocessed again. */
  List<Row> batchGet(TenantId tenant, Table table, List<Map<String, AttributeValue>> keys) {
    return BatchGet.read(
            dynamoDb,
            tenant.value(),
            Map.of(table.name(), keys),
            MAX_ATTEMPTS,
            request -> request.overrideConfiguration(as(tenant)))
        .getOrDefault(table.name(), List.of());
  }

  /** Reads the first rows of a query, at most {@code max}, in as many requests as needed. */
  List<Row> query(String what, QueryRequest request, int max) {
    return ask(
        what,
        () -> dynamoDb.queryPaginator(request).items().stream().limit(max).map(Row::new).toList());
  }

  /** Deletes a row. */
  void delete(TenantId tenant, Table table, Map<String, AttributeValue> key) {
    table.delete(tenant.value(), request -> request.overrideConfiguration(as(tenant)).key(key));
  }

  /**
   * Sends a conditional update once.
   *
   * @param what the operation, for errors
   * @return empty if the row was updated, else the row that failed the condition, which has no
   *     attributes if it does not exist (UpdateItem, {@code ReturnValuesOnConditionCheckFailure})
   */
  Optional<Row> updateOnce(String what, UpdateItemRequest request) {
    return conflict(once, what, request);
  }

  /**
   * Sends a conditional update as {@link #updateOnce}, and retries it after an error. A repetition
   * may fail the condition because of the request's own first write.
   */
  Optional<Row> updateOrConflict(String what, UpdateItemRequest request) {
    return conflict(dynamoDb, what, request);
  }

  private Optional<Row> conflict(DynamoDbClient client, String what, UpdateItemRequest request) {
    return ask(
        what,
        () -> {
          try {
            client.updateItem(request);
            return Optional.empty();
          } catch (ConditionalCheckFailedException failed) {
            return Optional.of(new Row(failed.item()));
          }
        });
  }

  /**
   * Sends a conditional update, and retries it after an error.
   *
   * @param what the operation, for errors
   * @return the attributes that the request selects; empty if the condition failed
   */
  Optional<Row> update(String what, UpdateItemRequest request) {
    return askUnless(
        what,
        ConditionalCheckFailedException.class,
        () -> new Row(dynamoDb.updateItem(request).attributes()));
  }
}
