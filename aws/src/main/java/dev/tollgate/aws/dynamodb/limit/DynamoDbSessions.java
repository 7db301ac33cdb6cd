package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.session.SubjectSessions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.dynamodb.model.ReturnValue;
import software.amazon.awssdk.services.dynamodb.model.ReturnValuesOnConditionCheckFailure;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * Sessions, connections, and the tenants that have them: the sets of connections in the Session
 * table; the count of a tenant, its turns and the sessions of its subjects in the Limit table.
 *
 * <p>A failed condition brings the row that failed it, so what stood against a write is known
 * without a read (UpdateItem, {@code ReturnValuesOnConditionCheckFailure}).
 *
 * <h2>The rate in a condition</h2>
 *
 * {@link Gcra} moves the arrival time on from {@code now} if it lies behind, and from where it is
 * if it lies ahead. A row's number can do either by itself, under the condition that it does lie
 * there, so nobody needs to know it exactly and writers do not overtake each other. Which of the
 * two to try first follows from what was read last; if that was wrong, the other one follows.
 */
public final class DynamoDbSessions implements Sessions, Connections, LiveTenants {
  /** The case can change between two writes only if others write, or the row is made anew. */
  private static final int MOST_WRITES = 5;

  /** The most rows that DynamoDB reads at once. */
  private static final int BATCH = 100;

  private static final Map<String, String> COUNT = Map.of("#count", LimitRow.ITEM_COUNT);

  private final DynamoDbClient dynamoDb;
  private final DynamoDbClient once;
  private final String sessionTable;
  private final String limitTable;
  private final TenantCredentials credentials;

  /**
   * Sessions in these tables.
   *
   * @param once sends no request twice: a count that is repeated counts twice, and a joining that
   *     is repeated finds itself in already
   */
  public DynamoDbSessions(
      DynamoDbClient dynamoDb,
      DynamoDbClient once,
      String sessionTable,
      String limitTable,
      TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.once = once;
    this.sessionTable = sessionTable;
    this.limitTable = limitTable;
    this.credentials = credentials;
  }

  @Override
  public Optional<Instant> acquireCreation(TenantId tenant, Gcra rate, Instant now) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    Optional<Instant> arrival = Optional.empty();
    for (int i = 0; i < MOST_WRITES; i++) {
      Turn turn = Turn.of(rate, arrival, now);
      Map<String, AttributeValue> values = new HashMap<>(turn.values());
      values.put(":live", LimitRow.IS_LIVE);
      UpdateItemRequest request =
          UpdateItemRequest.builder()
              .overrideConfiguration(configuration)
              .tableName(limitTable)
              .key(LimitRow.key(tenant, LimitRow.SESSIONS))
              .updateExpression(turn.update() + ", #live = :live")
              .conditionExpression(turn.condition())
              .expressionAttributeNames(
                  Map.of("#arrival", LimitRow.ARRIVAL, "#live", LimitRow.LIVE))
              .expressionAttributeValues(values)
              .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
              .build();
      Optional<Row> against = unlessDone("DynamoDB UpdateItem of turns of " + tenant, request);
      if (against.isEmpty()) {
        return Optional.empty();
      }
      Row row = against.get();
      arrival = row.optional(LimitRow.ARRIVAL, row::nanos);
      if (!rate.conforms(arrival, now)) {
        return Optional.of(rate.conformsAt(arrival, now));
      }
    }
    throw new Unavailable("turns of " + tenant + ": too many others write them");
  }

  @Override
  public void create(Session session) {
    AwsRequestOverrideConfiguration tenant = credentials.as(session.tenant());
    ask(
        "DynamoDB PutItem of a session of " + session.tenant(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .overrideConfiguration(tenant)
                        .tableName(sessionTable)
                        .item(SessionRow.write(session))));
  }

  /** By a BatchGetItem, which those who read sessions may do anyway. */
  @Override
  public SubjectSessions findForSubject(TenantId tenant, Subject subject) {
    return read(tenant, limitTable, List.of(LimitRow.key(tenant, subject))).stream()
        .findFirst()
        .map(
            row ->
                new SubjectSessions(
                    row.texts(LimitRow.SESSION_IDS).stream()
                        .map(SessionId::new)
                        .collect(Collectors.toUnmodifiableSet()),
                    row.optional(LimitRow.ARRIVAL, row::nanos)))
        .orElse(SubjectSessions.NONE);
  }

  @Override
  public WriteResult addToSubject(
      TenantId tenant,
      Subject subject,
      SessionId id,
      long most,
      Gcra rate,
      SubjectSessions read,
      Instant now,
      Instant until) {
    Turn turn = Turn.of(rate, read.arrival(), now);
    Map<String, AttributeValue> values = new HashMap<>(turn.values());
    values.put(":until", Attribute.number(until.getEpochSecond()));
    values.put(":ids", ids(Set.of(id)));
    values.put(":id", Attribute.text(id.value()));
    values.put(":most", Attribute.number(most));
    UpdateItemRequest request =
        subject(tenant, subject)
            .updateExpression(turn.update() + ", #expires = :until ADD #ids :ids")
            .conditionExpression(
                "contains(#ids, :id) OR ((attribute_not_exists(#ids) OR size(#ids) < :most) AND ("
                    + turn.condition()
                    + "))")
            .expressionAttributeValues(values)
            .build();
    return noted(tenant, request);
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
    Turn turn = Turn.of(rate, read.arrival(), now);
    Map<String, AttributeValue> values = new HashMap<>(turn.values());
    values.put(":until", Attribute.number(until.getEpochSecond()));
    values.put(":read", ids(read.sessions()));
    values.put(":nextIds", ids(next));
    UpdateItemRequest request =
        subject(tenant, subject)
            .updateExpression(turn.update() + ", #expires = :until, #ids = :nextIds")
            .conditionExpression("#ids = :nextIds OR (#ids = :read AND (" + turn.condition() + "))")
            .expressionAttributeValues(values)
            .build();
    return noted(tenant, request);
  }

  private UpdateItemRequest.Builder subject(TenantId tenant, Subject subject) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(credentials.as(tenant))
        .tableName(limitTable)
        .key(LimitRow.key(tenant, subject))
        .expressionAttributeNames(
            Map.of(
                "#ids", LimitRow.SESSION_IDS,
                "#expires", LimitRow.EXPIRES_AT,
                "#arrival", LimitRow.ARRIVAL));
  }

  /** A note that is written twice counts once, at most as two for the rate. */
  private WriteResult noted(TenantId tenant, UpdateItemRequest request) {
    return write(
        "DynamoDB UpdateItem of a subject of " + tenant, () -> dynamoDb.updateItem(request));
  }

  private static AttributeValue ids(Set<SessionId> ids) {
    return AttributeValue.fromSs(ids.stream().map(SessionId::value).toList());
  }

  @Override
  public void deleteSubjects(TenantId tenant) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    List<String> keys =
        ask(
            "DynamoDB Query of the subjects of " + tenant,
            () ->
                dynamoDb
                    .queryPaginator(
                        request ->
                            request
                                .overrideConfiguration(configuration)
                                .tableName(limitTable)
                                .consistentRead(true)
                                .keyConditionExpression(
                                    "#tenant = :tenant AND begins_with(#key, :prefix)")
                                .projectionExpression("#key")
                                .expressionAttributeNames(
                                    Map.of("#tenant", LimitRow.TENANT, "#key", LimitRow.KEY))
                                .expressionAttributeValues(
                                    Map.of(
                                        ":tenant", Attribute.text(tenant.value()),
                                        ":prefix", Attribute.text(LimitRow.SUBJECT_PREFIX))))
                    .items()
                    .stream()
                    .map(item -> new Row(item).text(LimitRow.KEY))
                    .toList());
    keys.forEach(key -> forget(tenant, key));
  }

  @Override
  public List<Session> find(TenantId tenant, Set<SessionId> ids) {
    return read(tenant, sessionTable, ids.stream().map(id -> SessionRow.key(tenant, id)).toList())
        .stream()
        .map(SessionRow::read)
        .toList();
  }

  /** Reads rows of a tenant consistently. What DynamoDB leaves out, it is asked for again. */
  private List<Row> read(TenantId tenant, String table, List<Map<String, AttributeValue>> keys) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    List<Row> rows = new ArrayList<>();
    List<Map<String, AttributeValue>> left = keys;
    int requests = MOST_WRITES + keys.size() / BATCH;
    for (int i = 0; i < requests && !left.isEmpty(); i++) {
      List<Map<String, AttributeValue>> next = left.subList(0, Math.min(BATCH, left.size()));
      BatchGetItemResponse response =
          ask(
              "DynamoDB BatchGetItem of " + tenant,
              () ->
                  dynamoDb.batchGetItem(
                      request ->
                          request
                              .overrideConfiguration(configuration)
                              .requestItems(
                                  Map.of(
                                      table,
                                      KeysAndAttributes.builder()
                                          .keys(next)
                                          .consistentRead(true)
                                          .build()))));
      response.responses().getOrDefault(table, List.of()).forEach(item -> rows.add(new Row(item)));
      List<Map<String, AttributeValue>> leftOut = new ArrayList<>();
      response.unprocessedKeys().values().forEach(more -> leftOut.addAll(more.keys()));
      leftOut.addAll(left.subList(next.size(), left.size()));
      left = leftOut;
    }
    if (!left.isEmpty()) {
      throw new Unavailable("DynamoDB BatchGetItem of " + tenant + ": leaves out keys");
    }
    return rows;
  }

  @Override
  public Optional<Session> find(TenantId tenant, SessionId id) {
    return get(tenant, sessionTable, SessionRow.key(tenant, id)).map(SessionRow::read);
  }

  @Override
  public Optional<Session> moveEnd(TenantId tenant, SessionId id, Instant end) {
    UpdateItemRequest request =
        session(tenant, id)
            .updateExpression("SET #end = :end")
            .conditionExpression("attribute_exists(#end)")
            .expressionAttributeNames(Map.of("#end", SessionRow.ENDS_AT))
            .expressionAttributeValues(Map.of(":end", Attribute.number(end.getEpochSecond())))
            .returnValues(ReturnValue.ALL_NEW)
            .build();
    return unlessRefused("DynamoDB UpdateItem of a session of " + tenant, request)
        .map(SessionRow::read);
  }

  @Override
  public Set<String> takeConnections(TenantId tenant, SessionId id) {
    UpdateItemRequest request =
        session(tenant, id)
            .updateExpression("REMOVE #connections")
            .conditionExpression("attribute_exists(#connections)")
            .expressionAttributeNames(Map.of("#connections", SessionRow.CONNECTION_IDS))
            .returnValues(ReturnValue.UPDATED_OLD)
            .build();
    return unlessRefused("DynamoDB UpdateItem of a session of " + tenant, request)
        .map(taken -> taken.texts(SessionRow.CONNECTION_IDS))
        .orElse(Set.of());
  }

  @Override
  public WriteResult remove(TenantId tenant, SessionId id) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    return write(
        "DynamoDB DeleteItem of a session of " + tenant,
        () ->
            dynamoDb.deleteItem(
                request ->
                    request
                        .overrideConfiguration(configuration)
                        .tableName(sessionTable)
                        .key(SessionRow.key(tenant, id))
                        .conditionExpression("attribute_not_exists(#connections)")
                        .expressionAttributeNames(
                            Map.of("#connections", SessionRow.CONNECTION_IDS))));
  }

  @Override
  public List<Session> list(TenantId tenant) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    return ask(
        "DynamoDB Query of the sessions of " + tenant,
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .overrideConfiguration(configuration)
                            .tableName(sessionTable)
                            .consistentRead(true)
                            .keyConditionExpression("#tenant = :tenant")
                            .expressionAttributeNames(Map.of("#tenant", SessionRow.TENANT))
                            .expressionAttributeValues(
                                Map.of(":tenant", Attribute.text(tenant.value()))))
                .items()
                .stream()
                .flatMap(item -> SessionRow.find(new Row(item)).stream())
                .toList());
  }

  @Override
  public JoinResult join(
      TenantId tenant,
      SessionId session,
      String connectionId,
      long most,
      Gcra rate,
      Optional<Instant> expected,
      Instant endsAt,
      Instant now) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    Optional<Instant> arrival = expected;
    boolean endsLater = false;
    for (int i = 0; i < MOST_WRITES; i++) {
      Turn turn = Turn.of(rate, arrival, now);
      Map<String, AttributeValue> values = new HashMap<>(turn.values());
      values.put(":end", Attribute.number(endsAt.getEpochSecond()));
      values.put(":id", Attribute.text(connectionId));
      values.put(":ids", AttributeValue.fromSs(List.of(connectionId)));
      values.put(":most", Attribute.number(most));
      values.put(":second", Attribute.number(now.getEpochSecond()));
      UpdateItemRequest request =
          UpdateItemRequest.builder()
              .overrideConfiguration(configuration)
              .tableName(sessionTable)
              .key(SessionRow.key(tenant, session))
              .updateExpression(
                  "ADD #connections :ids "
                      + turn.update()
                      + ", #joined = :second"
                      + ", #created = if_not_exists(#created, :second)"
                      + (endsLater ? "" : ", #end = :end"))
              .conditionExpression(
                  "#end > :second AND #end "
                      + (endsLater ? ">" : "<=")
                      + " :end AND NOT contains(#connections, :id)"
                      + " AND (attribute_not_exists(#connections) OR size(#connections) < :most)"
                      + " AND ("
                      + turn.condition()
                      + ")")
              .expressionAttributeNames(
                  Map.of(
                      "#end", SessionRow.ENDS_AT,
                      "#connections", SessionRow.CONNECTION_IDS,
                      "#joined", SessionRow.joined(connectionId),
                      "#created", SessionRow.CREATED_AT,
                      "#arrival", SessionRow.ARRIVAL))
              .expressionAttributeValues(values)
              .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD)
              .build();
      Optional<Row> against = unlessDone("DynamoDB UpdateItem of a session of " + tenant, request);
      if (against.isEmpty()) {
        return JoinResult.ADDED;
      }
      if (against.get().attributes().isEmpty()) {
        return JoinResult.NO_SESSION;
      }
      Session stands = SessionRow.read(against.get());
      Optional<JoinResult> refusal = refusal(stands, connectionId, most, rate, now);
      if (refusal.isPresent()) {
        return refusal.get();
      }
      arrival = stands.arrival();
      endsLater = stands.endsAt().getEpochSecond() > endsAt.getEpochSecond();
    }
    throw new Unavailable("a session of " + tenant + ": too many others write it");
  }

  private static Optional<JoinResult> refusal(
      Session stands, String connectionId, long most, Gcra rate, Instant now) {
    if (stands.hasEndedAt(now)) {
      return Optional.of(JoinResult.NO_SESSION);
    }
    if (stands.connections().contains(connectionId)) {
      return Optional.of(JoinResult.ALREADY_JOINED);
    }
    if (stands.connections().size() >= most) {
      return Optional.of(JoinResult.FULL);
    }
    return rate.conforms(stands.arrival(), now)
        ? Optional.empty()
        : Optional.of(JoinResult.TOO_SOON);
  }

  @Override
  public LeaveResult leave(TenantId tenant, SessionId session, String connectionId) {
    UpdateItemRequest request =
        session(tenant, session)
            .updateExpression("DELETE #connections :ids REMOVE #joined")
            .conditionExpression("contains(#connections, :id)")
            .expressionAttributeNames(
                Map.of(
                    "#connections",
                    SessionRow.CONNECTION_IDS,
                    "#joined",
                    SessionRow.joined(connectionId)))
            .expressionAttributeValues(
                Map.of(
                    ":id",
                    Attribute.text(connectionId),
                    ":ids",
                    AttributeValue.fromSs(List.of(connectionId))))
            .build();
    return unlessRefused("DynamoDB UpdateItem of a session of " + tenant, request).isPresent()
        ? LeaveResult.REMOVED
        : LeaveResult.NOT_JOINED;
  }

  @Override
  public void createCount(TenantId tenant) {
    UpdateItemRequest request =
        count(tenant, credentials.as(tenant))
            .updateExpression("SET #count = if_not_exists(#count, :none)")
            .expressionAttributeValues(Map.of(":none", Attribute.number(0)))
            .build();
    ask("DynamoDB UpdateItem of the count of " + tenant, () -> dynamoDb.updateItem(request));
  }

  @Override
  public CountResult countUp(TenantId tenant, String connectionId, long most) {
    UpdateItemRequest request =
        count(tenant, credentials.as(tenant))
            .updateExpression("ADD #count :one, #admitted :one, #part :one")
            .conditionExpression("attribute_not_exists(#count) OR #count < :most")
            .expressionAttributeNames(
                Map.of(
                    "#count", LimitRow.ITEM_COUNT,
                    "#admitted", LimitRow.ADMITTED,
                    "#part", LimitRow.part(ConnectionCount.partOf(connectionId))))
            .expressionAttributeValues(
                Map.of(":one", Attribute.number(1), ":most", Attribute.number(most)))
            .build();
    return unlessDone("DynamoDB UpdateItem of the count of " + tenant, request).isEmpty()
        ? CountResult.COUNTED
        : CountResult.FULL;
  }

  @Override
  public void undoCountUp(TenantId tenant, String connectionId) {
    lower(tenant, Additions.of(Set.of(connectionId), -1).and(LimitRow.ADMITTED, -1), 1);
  }

  @Override
  public void countDown(TenantId tenant, Set<String> connectionIds) {
    if (!connectionIds.isEmpty()) {
      lower(tenant, Additions.of(connectionIds, -1), connectionIds.size());
    }
  }

  /**
   * Lowers a count, if there is one, to none at the least.
   *
   * @param besides what else the same write does
   */
  private void lower(TenantId tenant, Additions besides, long connections) {
    String what = "DynamoDB UpdateItem of the count of " + tenant;
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    Map<String, AttributeValue> values = new HashMap<>(besides.values());
    values.put(":n", Attribute.number(connections));
    UpdateItemRequest lower =
        count(tenant, as)
            .updateExpression("SET #count = #count - :n ADD " + besides.expression())
            .conditionExpression("#count >= :n")
            .expressionAttributeNames(besides.names(COUNT))
            .expressionAttributeValues(values)
            .build();
    Map<String, AttributeValue> withZero = new HashMap<>(values);
    withZero.put(":none", Attribute.number(0));
    UpdateItemRequest toNone =
        count(tenant, as)
            .updateExpression("SET #count = :none ADD " + besides.expression())
            .conditionExpression("#count < :n")
            .expressionAttributeNames(besides.names(COUNT))
            .expressionAttributeValues(withZero)
            .build();
    for (int i = 0; i < MOST_WRITES; i++) {
      Optional<Row> against = unlessDone(what, i % 2 == 0 ? lower : toNone);
      if (against.isEmpty() || !against.get().has(LimitRow.ITEM_COUNT)) {
        return;
      }
    }
    throw new Unavailable("the count of " + tenant + ": too many others write it");
  }

  @Override
  public ConnectionCount readCount(TenantId tenant) {
    return LimitRow.connectionCount(
        get(tenant, limitTable, LimitRow.key(tenant, LimitRow.CONNECTIONS)));
  }

  /**
   * Each correction bears a name of its own and replaces the one that was seen. So a repetition of
   * a correction whose answer was lost finds its own name, and adds nothing.
   */
  @Override
  public WriteResult correct(TenantId tenant, ConnectionCount seen, Correction correction) {
    AttributeValue name = Attribute.text(UUID.randomUUID().toString());
    Additions parts = Additions.of(correction.parts());
    Map<String, AttributeValue> values = new HashMap<>(parts.values());
    values.put(":by", Attribute.number(correction.open()));
    values.put(":name", name);
    seen.correction().ifPresent(last -> values.put(":seen", Attribute.text(last)));
    String unlessOvertaken =
        seen.correction().isPresent() ? "#correction = :seen" : "attribute_not_exists(#correction)";
    if (correction.open() < 0) {
      values.put(":less", Attribute.number(-correction.open()));
    }
    UpdateItemRequest request =
        count(tenant, credentials.as(tenant))
            .updateExpression(
                "SET #correction = :name ADD #count :by"
                    + (parts.isEmpty() ? "" : ", " + parts.expression()))
            .conditionExpression(
                unlessOvertaken + (correction.open() < 0 ? " AND #count >= :less" : ""))
            .expressionAttributeNames(
                parts.names(
                    Map.of("#count", LimitRow.ITEM_COUNT, "#correction", LimitRow.CORRECTION)))
            .expressionAttributeValues(values)
            .build();
    return ask(
        "DynamoDB UpdateItem of the count of " + tenant,
        () -> {
          try {
            dynamoDb.updateItem(request);
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
    forget(tenant, LimitRow.CONNECTIONS);
  }

  @Override
  public void deleteCreationRate(TenantId tenant) {
    forget(tenant, LimitRow.SESSIONS);
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
        session(tenant, id)
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
        "DynamoDB UpdateItem of a session of " + tenant, () -> dynamoDb.updateItem(request));
  }

  @Override
  public WriteResult extend(
      Session read, Instant endsAt, Map<String, Instant> processed, Instant now) {
    AwsRequestOverrideConfiguration configuration = credentials.as(read.tenant());
    Map<String, AttributeValue> values = new HashMap<>();
    values.put(":second", Attribute.number(now.getEpochSecond()));
    values.put(":read", Attribute.number(read.endsAt().getEpochSecond()));
    values.put(":end", Attribute.number(endsAt.getEpochSecond()));
    values.put(":processed", SessionRow.write(processed));
    read.messageAt()
        .ifPresent(last -> values.put(":last", Attribute.number(last.getEpochSecond())));
    String unlessOvertaken =
        read.messageAt().isPresent() ? "#message = :last" : "attribute_not_exists(#message)";
    return write(
        "DynamoDB UpdateItem of a session of " + read.tenant(),
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .overrideConfiguration(configuration)
                        .tableName(sessionTable)
                        .key(SessionRow.key(read.tenant(), read.id()))
                        .updateExpression(
                            "SET #end = :end, #message = :second, #processed = :processed,"
                                + " #created = if_not_exists(#created, :second)")
                        .conditionExpression("#end = :read AND " + unlessOvertaken)
                        .expressionAttributeNames(
                            Map.of(
                                "#end", SessionRow.ENDS_AT,
                                "#message", SessionRow.MESSAGE_AT,
                                "#created", SessionRow.CREATED_AT,
                                "#processed", SessionRow.PROCESSED))
                        .expressionAttributeValues(values)));
  }

  private void forget(TenantId tenant, String key) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    ask(
        "DynamoDB DeleteItem of " + key + " of " + tenant,
        () ->
            dynamoDb.deleteItem(
                request ->
                    request
                        .overrideConfiguration(configuration)
                        .tableName(limitTable)
                        .key(LimitRow.key(tenant, key))));
  }

  /** Under the function's own role: which tenants it is about is what is asked. */
  @Override
  public List<TenantId> list() {
    return ask(
        "DynamoDB Query of live tenants",
        () ->
            dynamoDb
                .queryPaginator(
                    request ->
                        request
                            .tableName(limitTable)
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
    return get(tenant, limitTable, LimitRow.key(tenant, LimitRow.SESSIONS))
        .map(row -> row.nanos(LimitRow.ARRIVAL));
  }

  @Override
  public WriteResult remove(TenantId tenant, Instant arrival) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    return write(
        "DynamoDB DeleteItem of turns of " + tenant,
        () ->
            dynamoDb.deleteItem(
                request ->
                    request
                        .overrideConfiguration(configuration)
                        .tableName(limitTable)
                        .key(LimitRow.key(tenant, LimitRow.SESSIONS))
                        .conditionExpression("#arrival = :arrival")
                        .expressionAttributeNames(Map.of("#arrival", LimitRow.ARRIVAL))
                        .expressionAttributeValues(Map.of(":arrival", Attribute.nanos(arrival)))));
  }

  private UpdateItemRequest.Builder session(TenantId tenant, SessionId id) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(credentials.as(tenant))
        .tableName(sessionTable)
        .key(SessionRow.key(tenant, id));
  }

  private UpdateItemRequest.Builder count(TenantId tenant, AwsRequestOverrideConfiguration as) {
    return UpdateItemRequest.builder()
        .overrideConfiguration(as)
        .tableName(limitTable)
        .key(LimitRow.key(tenant, LimitRow.CONNECTIONS))
        .expressionAttributeNames(COUNT)
        .returnValuesOnConditionCheckFailure(ReturnValuesOnConditionCheckFailure.ALL_OLD);
  }

  private Optional<Row> get(TenantId tenant, String table, Map<String, AttributeValue> key) {
    AwsRequestOverrideConfiguration configuration = credentials.as(tenant);
    Map<String, AttributeValue> item =
        ask(
            "DynamoDB GetItem of " + tenant,
            () ->
                dynamoDb
                    .getItem(
                        request ->
                            request
                                .overrideConfiguration(configuration)
                                .tableName(table)
                                .key(key)
                                .consistentRead(true))
                    .item());
    return item.isEmpty() ? Optional.empty() : Optional.of(new Row(item));
  }

  /**
   * Sends a conditional write once; empty if it was done, else the row that was against it, which
   * is empty if there is none.
   */
  private Optional<Row> unlessDone(String what, UpdateItemRequest request) {
    return ask(
        what,
        () -> {
          try {
            once.updateItem(request);
            return Optional.empty();
          } catch (ConditionalCheckFailedException failed) {
            return Optional.of(new Row(failed.item()));
          }
        });
  }

  /**
   * Sends a conditional write, again if need be; what it returns of the row, or empty if it was
   * refused.
   */
  private Optional<Row> unlessRefused(String what, UpdateItemRequest request) {
    return ask(
        what,
        () -> {
          try {
            return Optional.of(new Row(dynamoDb.updateItem(request).attributes()));
          } catch (ConditionalCheckFailedException refused) {
            return Optional.empty();
          }
        });
  }

  /**
   * What a write adds to attributes of a row, in the words of an expression.
   *
   * @param by what is added to which attribute
   */
  private record Additions(Map<String, Long> by) {
    /** Additions of so much to the part of each connection. */
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

  /** One of the two ways in which an arrival time moves on. */
  private record Turn(String update, String condition, Map<String, AttributeValue> values) {
    /** The way that fits an arrival time that was read as {@code arrival}. */
    static Turn of(Gcra rate, Optional<Instant> arrival, Instant now) {
      return arrival.isPresent() && arrival.get().isAfter(now)
          ? new Turn(
              "SET #arrival = #arrival + :interval",
              "#arrival > :now AND #arrival <= :latest",
              Map.of(
                  ":now", Attribute.nanos(now),
                  ":latest", Attribute.nanos(now.plus(rate.tolerance())),
                  ":interval", Attribute.number(rate.interval().toNanos())))
          : new Turn(
              "SET #arrival = :next",
              "attribute_not_exists(#arrival) OR #arrival <= :now",
              Map.of(
                  ":now",
                  Attribute.nanos(now),
                  ":next",
                  Attribute.nanos(now.plus(rate.interval()))));
    }
  }
}
