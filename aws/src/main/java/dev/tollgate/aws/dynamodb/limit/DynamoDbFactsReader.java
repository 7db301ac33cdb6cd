package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.BatchGet;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.aws.dynamodb.tenant.TenantRow;
import dev.tollgate.core.Action;
import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.message.MessageFacts;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Reads the rows that an admission or a batch of messages depends on, with one BatchGetItem over
 * three tables.
 */
public final class DynamoDbFactsReader implements AdmissionFactsReader, MessageFactsReader {
  private static final int CACHE_SIZE = 10_000;
  private static final Duration KNOWN_FOR = Duration.ofSeconds(60);
  private static final Duration UNKNOWN_FOR = Duration.ofSeconds(5);

  private final DynamoDbClient dynamoDb;
  private final Tables tables;
  private final TenantCredentials credentials;
  private final InstantSource clock;
  private final Map<TenantId, Instant> knownUntil = new RecentlyUsedMap<>(CACHE_SIZE);
  private final Map<TenantId, Instant> unknownUntil = new RecentlyUsedMap<>(CACHE_SIZE);

  /** A reader of these tables. */
  public DynamoDbFactsReader(
      DynamoDbClient dynamoDb, Tables tables, TenantCredentials credentials, InstantSource clock) {
    this.dynamoDb = dynamoDb;
    this.tables = tables;
    this.credentials = credentials;
    this.clock = clock;
  }

  /**
   * {@inheritDoc}
   *
   * <p>Uses the function's own role. Unknown ids have a separate cache, so that requests with
   * invented ids cannot evict existing tenants.
   */
  @Override
  public boolean tenantExists(TenantId tenant) {
    Instant now = clock.instant();
    if (isCached(knownUntil, tenant, now)) {
      return true;
    }
    if (isCached(unknownUntil, tenant, now)) {
      return false;
    }
    boolean known =
        new Table(dynamoDb, tables.tenant())
            .get(
                "tenant " + tenant,
                request ->
                    request
                        .key(TenantRow.key(tenant))
                        .projectionExpression("#id")
                        .expressionAttributeNames(Map.of("#id", TenantRow.ID)))
            .isPresent();
    remember(known ? knownUntil : unknownUntil, tenant, now.plus(known ? KNOWN_FOR : UNKNOWN_FOR));
    return known;
  }

  private static boolean isCached(Map<TenantId, Instant> answers, TenantId tenant, Instant now) {
    synchronized (answers) {
      return now.isBefore(answers.getOrDefault(tenant, Instant.MIN));
    }
  }

  private static void remember(Map<TenantId, Instant> answers, TenantId tenant, Instant until) {
    synchronized (answers) {
      answers.put(tenant, until);
    }
  }

  @Override
  public AdmissionFacts read(TenantId tenant, SessionId session) {
    BucketId bucket = new BucketId(tenant, Action.CONNECT);
    Map<String, List<Row>> rows =
        read(
            tenant,
            Map.of(
                tables.tenant(),
                List.of(TenantRow.key(tenant)),
                tables.session(),
                List.of(SessionRow.key(tenant, session)),
                tables.limit(),
                List.of(LimitRow.key(tenant, LimitRow.CONNECTIONS), LimitRow.key(bucket))));
    List<Row> limits = rows.getOrDefault(tables.limit(), List.of());
    return new AdmissionFacts(
        first(rows.getOrDefault(tables.tenant(), List.of())).map(TenantRow::read),
        first(rows.getOrDefault(tables.session(), List.of())).map(SessionRow::read),
        LimitRow.count(first(limits.stream().filter(row -> !LimitRow.isBucket(row)).toList())),
        first(limits.stream().filter(LimitRow::isBucket).toList()).map(LimitRow::bucket));
  }

  @Override
  public MessageFacts read(TenantId tenant, Set<SessionId> sessions, Set<MessageName> messages) {
    Map<String, List<Row>> rows =
        read(
            tenant,
            Map.of(
                tables.tenant(),
                List.of(TenantRow.key(tenant)),
                tables.session(),
                sessions.stream().map(session -> SessionRow.key(tenant, session)).toList(),
                tables.limit(),
                Stream.concat(
                        Stream.of(LimitRow.key(new BucketId(tenant, Action.MESSAGE))),
                        messages.stream().map(message -> LimitRow.key(tenant, message)))
                    .toList()));
    List<Row> limits = rows.getOrDefault(tables.limit(), List.of());
    List<Session> found =
        rows.getOrDefault(tables.session(), List.of()).stream().map(SessionRow::read).toList();
    return new MessageFacts(
        first(rows.getOrDefault(tables.tenant(), List.of())).map(TenantRow::read),
        found.stream().collect(Collectors.toMap(Session::id, Function.identity())),
        first(limits.stream().filter(LimitRow::isBucket).toList()).map(LimitRow::bucket),
        processed(limits, found, clock.instant())
            .filter(messages::contains)
            .collect(Collectors.toUnmodifiableSet()));
  }

  private static Stream<MessageName> processed(
      List<Row> limits, List<Session> sessions, Instant now) {
    return Stream.concat(
        limits.stream().filter(row -> LimitRow.isProcessed(row, now)).map(LimitRow::message),
        sessions.stream()
            .flatMap(
                session ->
                    session.processed().entrySet().stream()
                        .filter(noted -> now.isBefore(noted.getValue()))
                        .map(noted -> new MessageName(session.id(), noted.getKey()))));
  }

  private static Optional<Row> first(List<Row> rows) {
    return rows.stream().findFirst();
  }

  /** Reads keys by table. Requests keys that DynamoDB leaves unprocessed once more. */
  private Map<String, List<Row>> read(
      TenantId tenant, Map<String, List<Map<String, AttributeValue>>> keys) {
    return BatchGet.read(
        dynamoDb,
        tenant.value(),
        keys,
        2,
        request -> request.overrideConfiguration(credentials.as(tenant)));
  }

  /** The names of the three tables. */
  public record Tables(String tenant, String session, String limit) {}
}
