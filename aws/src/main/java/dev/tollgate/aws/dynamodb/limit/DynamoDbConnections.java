package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Connections: the set of each session in the Session table, and the count of each tenant in the
 * Limit table.
 */
public final class DynamoDbConnections implements Connections {
  private static final Map<String, String> COUNT = Map.of("#count", LimitRow.ITEM_COUNT);

  /** The session does not exist, goes on, or has ended without connections. */
  private static final String OPENABLE =
      "(attribute_not_exists(#end) OR #end > :second OR attribute_not_exists(#connections))";

  private final SessionTables tables;

  /** Connections in these tables. */
  public DynamoDbConnections(SessionTables tables) {
    this.tables = tables;
  }

  @Override
  public JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Optional<Place> place,
      Instant endsAt,
      Instant now) {
    return join(
        tenant, session, connectionId, max, rate, expected, place, endsAt, now, /* opens= */ false);
  }

  @Override
  public JoinResult open(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    return join(
        tenant,
        session,
        connectionId,
        max,
        rate,
        expected,
        Optional.empty(),
        endsAt,
        now,
        /* opens= */ true);
  }

  private JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Instant> expected,
      Optional<Place> place,
      Instant endsAt,
      Instant now,
      boolean opens) {
    AwsRequestOverrideConfiguration configuration = tables.as(tenant);
    Optional<Instant> arrival = expected;
    boolean endsLater = false;
    for (int i = 0; i < SessionTables.MAX_ATTEMPTS; i++) {
      ArrivalUpdate arrivalUpdate = ArrivalUpdate.of(rate, arrival, now);
      Map<String, AttributeValue> values = new HashMap<>(arrivalUpdate.values());
      values.put(":end", Attribute.number(endsAt.getEpochSecond()));
      values.put(":id", Attribute.text(connectionId));
      values.put(":ids", AttributeValue.fromSs(List.of(connectionId)));
      values.put(":most", Attribute.number(max));
      values.put(":second", Attribute.number(now.getEpochSecond()));
      Map<String, String> names =
          new HashMap<>(
              Map.of(
                  "#end", SessionRow.ENDS_AT,
                  "#connections", SessionRow.CONNECTION_IDS,
                  "#joined", SessionRow.joined(connectionId),
                  "#created", SessionRow.CREATED_AT,
                  "#arrival", SessionRow.ARRIVAL));
      place.ifPresent(
          used -> {
            names.put("#place", SessionRow.PLACE);
            names.put("#taken", SessionRow.PLACE_TAKEN);
            values.put(":place", SessionRow.write(used));
          });
      UpdateItemRequest request =
          UpdateItemRequest.builder()
              .overrideConfiguration(configuration)
              .tableName(tables.sessions().name())
              .key(SessionRow.key(tenant, session))
              .updateExpression(
                  "ADD #connections :ids "
                      + arrivalUpdate.expression()
                      + ", #joined = :second"
                      + ", #created = if_not_exists(#created, :second)"
                      + (endsLater ? "" : ", #end = :end")
                      + (place.isPresent() ? " REMOVE #place, #taken" : ""))
              .conditionExpression(
                  (opens ? OPENABLE : "#end > :second")
                      + " AND "
                      + (opens && !endsLater ? "(attribute_not_exists(#end) OR " : "(")
                      + (endsLater ? "#end > :end)" : "#end <= :end)")
                      + " AND NOT contains(#connections, :id)"
                      + " AND (attribute_not_exists(#connections) OR size(#connections) < :most)"
                      + " AND ("
                      + arrivalUpdate.condition()
                      + ")"
                      + (place.isPresent() ? " AND #place = :place" : ""))
              .expressionAttributeNames(names)
              .expressionAttributeValues(values)
              .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
              .build();
      Optional<Row> conflict =
          tables.updateOnce("DynamoDB UpdateItem of a session of " + tenant, request);
      if (conflict.isEmpty()) {
        return JoinResult.ADDED;
      }
      if (conflict.get().attributes().isEmpty()) {
        if (opens) { // it was removed since the last attempt
          arrival = Optional.empty();
          endsLater = false;
          continue;
        }
        return JoinResult.NO_SESSION;
      }
      Session current = SessionRow.read(conflict.get());
      boolean isOver = current.hasEndedAt(now) && !(opens && current.connections().isEmpty());
      Optional<JoinResult> refusal =
          isOver
              ? Optional.of(JoinResult.NO_SESSION)
              : refusal(current, connectionId, max, rate, place, now);
      if (refusal.isPresent()) {
        return refusal.get();
      }
      arrival = current.arrival();
      endsLater = current.endsAt().getEpochSecond() > endsAt.getEpochSecond();
    }
    throw new Unavailable("a session of " + tenant + ": too many concurrent writes");
  }

  private static Optional<JoinResult> refusal(
      Session current,
      String connectionId,
      long max,
      Gcra rate,
      Optional<Place> place,
      Instant now) {
    if (current.connections().contains(connectionId)) {
      return Optional.of(JoinResult.ALREADY_JOINED);
    }
    if (current.connections().size() >= max) {
      return Optional.of(JoinResult.FULL);
    }
    if (!rate.conforms(current.arrival(), now)) {
      return Optional.of(JoinResult.TOO_SOON);
    }
    return place.isEmpty() || current.place().equals(place)
        ? Optional.empty()
        : Optional.of(JoinResult.PLACE_USED);
  }

  @Override
  public LeaveResult leave(TenantId tenant, SessionId session, String connectionId, Duration back) {
    Map<String, String> names = new HashMap<>();
    names.put("#connections", SessionRow.CONNECTION_IDS);
    names.put("#joined", SessionRow.joined(connectionId));
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":id", Attribute.text(connectionId));
    values.put(":ids", AttributeValue.fromSs(List.of(connectionId)));
    if (!back.isZero()) {
      names.put("#arrival", SessionRow.ARRIVAL);
      values.put(":back", Attribute.number(back.toNanos()));
    }
    UpdateItemRequest request =
        tables
            .updateSession(tenant, session)
            .updateExpression(
                "DELETE #connections :ids REMOVE #joined"
                    + (back.isZero() ? "" : " SET #arrival = #arrival - :back"))
            .conditionExpression("contains(#connections, :id)")
            .expressionAttributeNames(names)
            .expressionAttributeValues(values)
            .build();
    return tables.update("DynamoDB UpdateItem of a session of " + tenant, request).isPresent()
        ? LeaveResult.REMOVED
        : LeaveResult.NOT_JOINED;
  }

  @Override
  public void createCount(TenantId tenant) {
    UpdateItemRequest request =
        count(tenant, tables.as(tenant))
            .updateExpression("SET #count = if_not_exists(#count, :zero)")
            .expressionAttributeValues(Map.of(":zero", Attribute.number(0)))
            .build();
    ask(
        "DynamoDB UpdateItem of the count of " + tenant,
        () -> tables.dynamoDb().updateItem(request));
  }

  @Override
  public CountResult countUp(
      TenantId tenant, String connectionId, long max, boolean withToken, Instant now) {
    Map<String, String> names = new HashMap<>();
    names.put("#count", LimitRow.ITEM_COUNT);
    names.put("#admitted", LimitRow.ADMITTED);
    names.put("#lastAt", LimitRow.ADMITTED_LAST_AT);
    names.put("#part", LimitRow.part(ConnectionCount.partOf(connectionId)));
    if (!withToken) {
      names.put("#without", LimitRow.WITHOUT_TOKEN);
    }
    UpdateItemRequest request =
        count(tenant, tables.as(tenant))
            .updateExpression(
                "SET #lastAt = :now ADD #count :one, #admitted :one, #part :one"
                    + (withToken ? "" : ", #without :one")
                    + LimitRow.REMOVE_CLAIMED)
            .conditionExpression("attribute_not_exists(#count) OR #count < :most")
            .expressionAttributeNames(LimitRow.namesWithClaimed(names))
            .expressionAttributeValues(
                Map.of(
                    ":one", Attribute.number(1),
                    ":most", Attribute.number(max),
                    ":now", Attribute.nanos(now)))
            .build();
    return tables.updateOnce("DynamoDB UpdateItem of the count of " + tenant, request).isEmpty()
        ? CountResult.COUNTED
        : CountResult.FULL;
  }

  @Override
  public void countWithoutToken(TenantId tenant) {
    UpdateItemRequest request =
        count(tenant, tables.as(tenant))
            .updateExpression("ADD #without :one")
            .conditionExpression("attribute_exists(#count)")
            .expressionAttributeNames(
                Map.of("#count", LimitRow.ITEM_COUNT, "#without", LimitRow.WITHOUT_TOKEN))
            .expressionAttributeValues(Map.of(":one", Attribute.number(1)))
            .build();
    tables.updateOnce("DynamoDB UpdateItem of the count of " + tenant, request);
  }

  @Override
  public void undoCountUp(TenantId tenant, String connectionId, boolean withToken) {
    Additions less = Additions.of(Set.of(connectionId), -1).and(LimitRow.ADMITTED, -1);
    lower(tenant, withToken ? less : less.and(LimitRow.WITHOUT_TOKEN, -1), 1);
  }

  @Override
  public void countDown(TenantId tenant, Set<String> connectionIds) {
    if (!connectionIds.isEmpty()) {
      lower(tenant, Additions.of(connectionIds, -1), connectionIds.size());
    }
  }

  /**
   * Lowers a tenant's count, if it exists, to zero at the least.
   *
   * @param others other additions of the same write
   */
  private void lower(TenantId tenant, Additions others, long connections) {
    String what = "DynamoDB UpdateItem of the count of " + tenant;
    AwsRequestOverrideConfiguration as = tables.as(tenant);
    Map<String, AttributeValue> values = new HashMap<>(others.values());
    values.put(":n", Attribute.number(connections));
    UpdateItemRequest lower =
        count(tenant, as)
            .updateExpression("SET #count = #count - :n ADD " + others.expression())
            .conditionExpression("#count >= :n")
            .expressionAttributeNames(others.names(COUNT))
            .expressionAttributeValues(values)
            .build();
    Map<String, AttributeValue> withZero = new HashMap<>(values);
    withZero.put(":zero", Attribute.number(0));
    UpdateItemRequest toZero =
        count(tenant, as)
            .updateExpression("SET #count = :zero ADD " + others.expression())
            .conditionExpression("#count < :n")
            .expressionAttributeNames(others.names(COUNT))
            .expressionAttributeValues(withZero)
            .build();
    for (int i = 0; i < SessionTables.MAX_ATTEMPTS; i++) {
      Optional<Row> conflict = tables.updateOnce(what, i % 2 == 0 ? lower : toZero);
      if (conflict.isEmpty() || !conflict.get().has(LimitRow.ITEM_COUNT)) {
        return;
      }
    }
    throw new Unavailable("the count of " + tenant + ": too many concurrent writes");
  }

  @Override
  public ConnectionCount readCount(TenantId tenant) {
    return LimitRow.connectionCount(
        tables.get(tenant, tables.limits(), LimitRow.key(tenant, LimitRow.CONNECTIONS)));
  }

  /**
   * Each correction stores a random id in the row and replaces the id that was read before. If the
   * response is lost and the SDK repeats the write, the repetition finds its own id and adds
   * nothing.
   */
  @Override
  public WriteResult correct(TenantId tenant, ConnectionCount seen, Correction correction) {
    AttributeValue name = Attribute.text(UUID.randomUUID().toString());
    Additions corrected = Additions.of(correction.parts());
    Additions parts =
        correction.open() < 0
            ? corrected.and(LimitRow.WITHOUT_TOKEN, -correction.open())
            : corrected;
    Map<String, AttributeValue> values = new HashMap<>(parts.values());
    values.put(":by", Attribute.number(correction.open()));
    values.put(":name", name);
    seen.correction().ifPresent(last -> values.put(":seen", Attribute.text(last)));
    String unlessCorrected =
        seen.correction().isPresent() ? "#correction = :seen" : "attribute_not_exists(#correction)";
    if (correction.open() < 0) {
      values.put(":less", Attribute.number(-correction.open()));
    }
    UpdateItemRequest request =
        count(tenant, tables.as(tenant))
            .updateExpression(
                "SET #correction = :name ADD #count :by"
                    + (parts.isEmpty() ? "" : ", " + parts.expression()))
            .conditionExpression(
                unlessCorrected + (correction.open() < 0 ? " AND #count >= :less" : ""))
            .expressionAttributeNames(
                parts.names(
                    Map.of("#count", LimitRow.ITEM_COUNT, "#correction", LimitRow.CORRECTION)))
            .expressionAttributeValues(values)
            .build();
    return ask(
        "DynamoDB UpdateItem of the count of " + tenant,
        () -> {
          try {
            tables.dynamoDb().updateItem(request);
            return WriteResult.DONE;
          } catch (ConditionalCheckFailedException failed) {
            return failed.hasItem() && name.equals(failed.item().get(LimitRow.CORRECTION))
                ? WriteResult.DONE
                : WriteResult.CONFLICT;
          }
        });
  }

  @Override
  public void deleteCount(TenantId tenant) {
    tables.delete(tenant, tables.limits(), LimitRow.key(tenant, LimitRow.CONNECTIONS));
  }

  private UpdateItemRequest.Builder count(TenantId tenant, AwsRequestOverrideConfiguration as) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(as)
        .tableName(tables.limits().name())
        .key(LimitRow.key(tenant, LimitRow.CONNECTIONS))
        .expressionAttributeNames(COUNT)
        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD);
  }

  /**
   * The {@code ADD} clause of an update.
   *
   * @param by the number to add to each attribute
   */
  private record Additions(Map<String, Long> by) {
    /** Adds {@code each} to the part of every connection. */
    static Additions of(Set<String> connectionIds, long each) {
      Map<Integer, Long> parts = new HashMap<>();
      connectionIds.forEach(id -> parts.merge(ConnectionCount.partOf(id), each, Long::sum));
      return of(parts);
    }

    static Additions of(Map<Integer, Long> parts) {
      Map<String, Long> by = new TreeMap<>();
      parts.forEach((part, amount) -> by.put(LimitRow.part(part), amount));
      return new Additions(by);
    }

    Additions and(String attribute, long amount) {
      Map<String, Long> both = new TreeMap<>(by);
      both.put(attribute, amount);
      return new Additions(both);
    }

    boolean isEmpty() {
      return by.isEmpty();
    }

    String expression() {
      return by.keySet().stream()
          .map(attribute -> "#" + attribute + " :" + attribute)
          .collect(Collectors.joining(", "));
    }

    Map<String, String> names(Map<String, String> others) {
      Map<String, String> names = new HashMap<>(others);
      by.keySet().forEach(attribute -> names.put("#" + attribute, attribute));
      return names;
    }

    Map<String, AttributeValue> values() {
      Map<String, AttributeValue> values = new HashMap<>();
      by.forEach((attribute, amount) -> values.put(":" + attribute, Attribute.number(amount)));
      return values;
    }
  }
}
