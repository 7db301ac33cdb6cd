package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.session.SubjectSessions;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryResponse;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Sessions in the Session table, which also holds the sessions of each subject: programs that claim
 * tokens read rows of the Limit table, and a session's id is a secret. The Limit table holds how
 * fast a tenant creates sessions.
 */
public final class DynamoDbSessions implements Sessions {
  private static final Map<String, String> KEYS =
      Map.of("#tenant", SessionRow.TENANT, "#id", SessionRow.ID);

  private final SessionTables tables;

  /** Sessions in these tables. */
  public DynamoDbSessions(SessionTables tables) {
    this.tables = tables;
  }

  @Override
  public Optional<Instant> acquireCreation(TenantId tenant, Gcra rate, Instant now) {
    AwsRequestOverrideConfiguration configuration = tables.as(tenant);
    Optional<Instant> arrival = Optional.empty();
    for (int i = 0; i < SessionTables.MAX_ATTEMPTS; i++) {
      ArrivalUpdate arrivalUpdate = ArrivalUpdate.of(rate, arrival, now);
      Map<String, AttributeValue> values = new HashMap<>(arrivalUpdate.values());
      values.put(":live", LimitRow.IS_LIVE);
      UpdateItemRequest request =
          UpdateItemRequest.builder()
              .overrideConfiguration(configuration)
              .tableName(tables.limits().name())
              .key(LimitRow.key(tenant, LimitRow.SESSIONS))
              .updateExpression(
                  arrivalUpdate.expression() + ", #live = :live" + LimitRow.REMOVE_CLAIMED)
              .conditionExpression(arrivalUpdate.condition())
              .expressionAttributeNames(
                  LimitRow.namesWithClaimed(
                      Map.of("#arrival", LimitRow.ARRIVAL, "#live", LimitRow.LIVE)))
              .expressionAttributeValues(values)
              .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
              .build();
      Optional<Row> conflict =
          tables.updateOnce("DynamoDB UpdateItem of the session rate of " + tenant, request);
      if (conflict.isEmpty()) {
        return Optional.empty();
      }
      Row row = conflict.get();
      arrival = row.optional(LimitRow.ARRIVAL, row::nanos);
      if (!rate.conforms(arrival, now)) {
        return Optional.of(rate.conformsAt(arrival, now));
      }
    }
    throw new Unavailable("session rate of " + tenant + ": too many concurrent writes");
  }

  @Override
  public void create(Session session) {
    tables
        .sessions()
        .put(
            "a session of " + session.tenant(),
            request ->
                request
                    .overrideConfiguration(tables.as(session.tenant()))
                    .item(SessionRow.write(session)));
  }

  /** Uses BatchGetItem, which the roles that read sessions already allow. */
  @Override
  public SubjectSessions findForSubject(TenantId tenant, Subject subject) {
    return tables
        .batchGet(tenant, tables.sessions(), List.of(SessionRow.key(tenant, subject)))
        .stream()
        .findFirst()
        .map(
            row ->
                new SubjectSessions(
                    row.texts(SessionRow.SESSION_IDS).stream()
                        .map(SessionId::new)
                        .collect(Collectors.toUnmodifiableSet()),
                    row.optional(SessionRow.ARRIVAL, row::nanos)))
        .orElse(SubjectSessions.NONE);
  }

  @Override
  public WriteResult addToSubject(
      TenantId tenant,
      Subject subject,
      SessionId id,
      long max,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until) {
    ArrivalUpdate arrivalUpdate = ArrivalUpdate.of(rate, read.arrival(), now);
    Map<String, AttributeValue> values = new HashMap<>(arrivalUpdate.values());
    values.put(":until", Attribute.number(until.getEpochSecond()));
    values.put(":ids", ids(Set.of(id)));
    values.put(":id", Attribute.text(id.value()));
    values.put(":most", Attribute.number(max));
    UpdateItemRequest request =
        subject(tenant, subject)
            .updateExpression(arrivalUpdate.expression() + ", #end = :until ADD #ids :ids")
            .conditionExpression(
                "contains(#ids, :id) OR ((attribute_not_exists(#ids) OR size(#ids) < :most) AND ("
                    + arrivalUpdate.condition()
                    + "))")
            .expressionAttributeValues(values)
            .build();
    return updateSubject(tenant, request);
  }

  @Override
  public WriteResult replaceForSubject(
      TenantId tenant,
      Subject subject,
      Set<SessionId> next,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until) {
    ArrivalUpdate arrivalUpdate = ArrivalUpdate.of(rate, read.arrival(), now);
    Map<String, AttributeValue> values = new HashMap<>(arrivalUpdate.values());
    values.put(":until", Attribute.number(until.getEpochSecond()));
    values.put(":read", ids(read.sessions()));
    values.put(":nextIds", ids(next));
    UpdateItemRequest request =
        subject(tenant, subject)
            .updateExpression(arrivalUpdate.expression() + ", #end = :until, #ids = :nextIds")
            .conditionExpression(
                "#ids = :nextIds OR (#ids = :read AND (" + arrivalUpdate.condition() + "))")
            .expressionAttributeValues(values)
            .build();
    return updateSubject(tenant, request);
  }

  private static Map<String, AttributeValue> keys(TenantId tenant) {
    return Map.of(
        ":tenant", Attribute.text(tenant.value()),
        ":subject", Attribute.text(SessionRow.SUBJECT_PREFIX));
  }

  private UpdateItemRequest.Builder subject(TenantId tenant, Subject subject) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(tables.as(tenant))
        .tableName(tables.sessions().name())
        .key(SessionRow.key(tenant, subject))
        .expressionAttributeNames(
            Map.of(
                "#ids", SessionRow.SESSION_IDS,
                "#end", SessionRow.ENDS_AT,
                "#arrival", SessionRow.ARRIVAL));
  }

  /** Sends the update. A repetition adds the session once and counts at most twice for the rate. */
  private WriteResult updateSubject(TenantId tenant, UpdateItemRequest request) {
    return write(
        "DynamoDB UpdateItem of a subject of " + tenant,
        () -> tables.dynamoDb().updateItem(request));
  }

  private static AttributeValue ids(Set<SessionId> ids) {
    return AttributeValue.fromSs(ids.stream().map(SessionId::value).toList());
  }

  @Override
  public void deleteSubjects(TenantId tenant) {
    tables
        .sessions()
        .query(
            "the subjects of " + tenant,
            request ->
                request
                    .overrideConfiguration(tables.as(tenant))
                    .keyConditionExpression("#tenant = :tenant AND begins_with(#id, :subject)")
                    .projectionExpression("#tenant, #id")
                    .expressionAttributeNames(KEYS)
                    .expressionAttributeValues(keys(tenant)))
        .forEach(row -> tables.delete(tenant, tables.sessions(), row.attributes()));
  }

  @Override
  public List<Session> find(TenantId tenant, Set<SessionId> ids) {
    return tables
        .batchGet(
            tenant, tables.sessions(), ids.stream().map(id -> SessionRow.key(tenant, id)).toList())
        .stream()
        .map(SessionRow::read)
        .toList();
  }

  @Override
  public Optional<Session> find(TenantId tenant, SessionId id) {
    return tables.get(tenant, tables.sessions(), SessionRow.key(tenant, id)).map(SessionRow::read);
  }

  @Override
  public Optional<Session> moveEnd(TenantId tenant, SessionId id, Instant end) {
    return moveEnd(tenant, id, end, "attribute_exists(#end)", Map.of());
  }

  @Override
  public Optional<Session> moveEndIfEnded(TenantId tenant, SessionId id, Instant end, Instant now) {
    Map<String, AttributeValue> second = Map.of(":second", Attribute.number(now.getEpochSecond()));
    return moveEnd(tenant, id, end, "#end <= :second", second);
  }

  private Optional<Session> moveEnd(
      TenantId tenant,
      SessionId id,
      Instant end,
      String condition,
      Map<String, AttributeValue> used) {
    Map<String, AttributeValue> values = new HashMap<>(used);
    values.put(":end", Attribute.number(end.getEpochSecond()));
    UpdateItemRequest request =
        tables
            .updateSession(tenant, id)
            .updateExpression("SET #end = :end REMOVE #place, #taken")
            .conditionExpression(condition)
            .expressionAttributeNames(
                Map.of(
                    "#end", SessionRow.ENDS_AT,
                    "#place", SessionRow.PLACE,
                    "#taken", SessionRow.PLACE_TAKEN))
            .expressionAttributeValues(values)
            .returnValues(ReturnValue.ALL_OLD)
            .build();
    return tables
        .update("DynamoDB UpdateItem of a session of " + tenant, request)
        .map(SessionRow::read)
        .map(before -> before.endingAt(end.truncatedTo(ChronoUnit.SECONDS)));
  }

  @Override
  public Set<String> takeConnections(TenantId tenant, SessionId id) {
    UpdateItemRequest request =
        tables
            .updateSession(tenant, id)
            .updateExpression("REMOVE #connections")
            .conditionExpression("attribute_exists(#connections)")
            .expressionAttributeNames(Map.of("#connections", SessionRow.CONNECTION_IDS))
            .returnValues(ReturnValue.UPDATED_OLD)
            .build();
    return tables
        .update("DynamoDB UpdateItem of a session of " + tenant, request)
        .map(taken -> taken.texts(SessionRow.CONNECTION_IDS))
        .orElse(Set.of());
  }

  @Override
  public WriteResult remove(TenantId tenant, SessionId id) {
    return tables
        .sessions()
        .delete(
            "a session of " + tenant,
            request ->
                request
                    .overrideConfiguration(tables.as(tenant))
                    .key(SessionRow.key(tenant, id))
                    .conditionExpression("attribute_not_exists(#connections)")
                    .expressionAttributeNames(Map.of("#connections", SessionRow.CONNECTION_IDS)));
  }

  @Override
  public Page<Session> page(
      TenantId tenant, Optional<String> cursor, int max, Consistency consistency) {
    QueryRequest.Builder request =
        QueryRequest.builder()
            .overrideConfiguration(tables.as(tenant))
            .tableName(tables.sessions().name())
            .consistentRead(consistency == Consistency.CONSISTENT)
            .limit(max)
            .keyConditionExpression("#tenant = :tenant AND #id < :subject")
            .expressionAttributeNames(KEYS)
            .expressionAttributeValues(keys(tenant));
    cursor.ifPresent(
        last ->
            request.exclusiveStartKey(
                Map.of(
                    SessionRow.TENANT, Attribute.text(tenant.value()),
                    SessionRow.ID, Attribute.text(last))));
    QueryResponse response =
        ask(
            "DynamoDB Query of the sessions of " + tenant,
            () -> tables.dynamoDb().query(request.build()));
    List<Session> sessions = new ArrayList<>();
    List<UnreadableRow> unreadable = new ArrayList<>();
    for (Map<String, AttributeValue> item : response.items()) {
      try {
        SessionRow.find(new Row(item)).ifPresent(sessions::add);
      } catch (UnreadableRow found) {
        unreadable.add(found);
      }
    }
    return new Page<>(
        sessions,
        response.hasLastEvaluatedKey()
            ? Optional.of(new Row(response.lastEvaluatedKey()).text(SessionRow.ID))
            : Optional.empty(),
        unreadable);
  }

  @Override
  public void deleteCreationRate(TenantId tenant) {
    tables.delete(tenant, tables.limits(), LimitRow.key(tenant, LimitRow.SESSIONS));
  }

  @Override
  public WriteResult renew(
      TenantId tenant, SessionId id, Instant endsAt, Lifetime lifetime, Instant now) {
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":second", Attribute.number(now.getEpochSecond()));
    values.put(":end", Attribute.number(endsAt.getEpochSecond()));
    values.put(":created", Attribute.number(lifetime.createdAt().orElse(now).getEpochSecond()));
    Map<String, String> names = new HashMap<>();
    names.put("#end", SessionRow.ENDS_AT);
    names.put("#created", SessionRow.CREATED_AT);
    lifetime
        .tokenEndsAt()
        .ifPresent(
            end -> {
              values.put(":token", Attribute.number(end.getEpochSecond()));
              names.put("#token", SessionRow.TOKEN_ENDS_AT);
            });
    boolean hasToken = lifetime.tokenEndsAt().isPresent();
    UpdateItemRequest request =
        tables
            .updateSession(tenant, id)
            .updateExpression(
                "SET #end = :end, #created = if_not_exists(#created, :created)"
                    + (hasToken ? ", #token = :token" : ""))
            .conditionExpression(
                "#end > :second AND #end <= :end"
                    + (hasToken ? " AND (attribute_not_exists(#token) OR #token <= :token)" : ""))
            .expressionAttributeNames(names)
            .expressionAttributeValues(values)
            .build();
    return write(
        "DynamoDB UpdateItem of a session of " + tenant,
        () -> tables.dynamoDb().updateItem(request));
  }

  /**
   * Each write stores a random id in the row. If the response is lost and the SDK repeats the
   * write, the repetition finds that id and is not a conflict. A renewal since the session was read
   * may have moved its end behind the new one; then the end stays.
   */
  @Override
  public WriteResult keepPlace(
      Session read, Place place, boolean isTaken, Instant endsAt, Instant now) {
    boolean endsLater = endsAt.getEpochSecond() > read.endsAt().getEpochSecond();
    AttributeValue write = Attribute.text(UUID.randomUUID().toString());
    Optional<Row> conflict = keepPlace(read, place, isTaken, write, endsLater, endsAt, now);
    if (conflict.filter(row -> endsLater && row.has(SessionRow.ENDS_AT)).isPresent()
        && conflict.get().number(SessionRow.ENDS_AT) > endsAt.getEpochSecond()) {
      conflict = keepPlace(read, place, isTaken, write, false, endsAt, now);
    }
    return conflict
            .filter(row -> !write.equals(row.attributes().get(SessionRow.PLACE_WRITE)))
            .isPresent()
        ? WriteResult.CONFLICT
        : WriteResult.DONE;
  }

  /** Stores a place, and the session's end if it moves; returns the row that conflicts. */
  private Optional<Row> keepPlace(
      Session read,
      Place place,
      boolean isTaken,
      AttributeValue write,
      boolean endsLater,
      Instant endsAt,
      Instant now) {
    Map<String, String> names = new HashMap<>();
    names.put("#place", SessionRow.PLACE);
    names.put("#taken", SessionRow.PLACE_TAKEN);
    names.put("#write", SessionRow.PLACE_WRITE);
    names.put("#end", SessionRow.ENDS_AT);
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":place", SessionRow.write(place));
    values.put(":taken", AttributeValue.fromBool(isTaken));
    values.put(":write", write);
    values.put(":second", Attribute.number(now.getEpochSecond()));
    read.place().ifPresent(last -> values.put(":last", SessionRow.write(last)));
    if (endsLater) {
      values.put(":end", Attribute.number(endsAt.getEpochSecond()));
    }
    UpdateItemRequest request =
        tables
            .updateSession(read.tenant(), read.id())
            .updateExpression(
                "SET #place = :place, #taken = :taken, #write = :write"
                    + (endsLater ? ", #end = :end" : ""))
            .conditionExpression(
                "#end > :second AND "
                    + (read.place().isPresent() ? "#place = :last" : "attribute_not_exists(#place)")
                    + (endsLater ? " AND #end <= :end" : ""))
            .expressionAttributeNames(names)
            .expressionAttributeValues(values)
            .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
            .build();
    return tables.updateOrConflict("DynamoDB UpdateItem of a session of " + read.tenant(), request);
  }

  @Override
  public WriteResult extend(
      Session read, Instant endsAt, Map<String, Instant> processed, Instant now) {
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":second", Attribute.number(now.getEpochSecond()));
    values.put(":read", Attribute.number(read.endsAt().getEpochSecond()));
    values.put(":end", Attribute.number(endsAt.getEpochSecond()));
    values.put(":processed", SessionRow.write(processed));
    read.messageAt()
        .ifPresent(last -> values.put(":last", Attribute.number(last.getEpochSecond())));
    String unlessChanged =
        read.messageAt().isPresent() ? "#message = :last" : "attribute_not_exists(#message)";
    return tables
        .sessions()
        .update(
            "a session of " + read.tenant(),
            request ->
                request
                    .overrideConfiguration(tables.as(read.tenant()))
                    .key(SessionRow.key(read.tenant(), read.id()))
                    .updateExpression(
                        "SET #end = :end, #message = :second, #processed = :processed,"
                            + " #created = if_not_exists(#created, :second)")
                    .conditionExpression("#end = :read AND " + unlessChanged)
                    .expressionAttributeNames(
                        Map.of(
                            "#end", SessionRow.ENDS_AT,
                            "#message", SessionRow.MESSAGE_AT,
                            "#created", SessionRow.CREATED_AT,
                            "#processed", SessionRow.PROCESSED))
                    .expressionAttributeValues(values));
  }
}
