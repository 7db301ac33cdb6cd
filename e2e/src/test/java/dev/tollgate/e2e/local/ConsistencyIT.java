package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * Two minutes after any failure, the connection counts are the numbers of open sockets, each tenant
 * is served, no row is left over, and no message is lost.
 */
final class ConsistencyIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();

  /** The counts must be right within two minutes. */
  private static final Duration SOON = Duration.ofMinutes(2);

  private static Predicate<Call> calls(String principal, String operation, String resource) {
    return call ->
        call.principal().name().equals(principal)
            && call.operation().equals(operation)
            && call.resource().orElse("").contains(resource);
  }

  private static Fault crash(String function) {
    return new Fault.Interrupted(() -> DEPLOYMENT.cloud().kill(function));
  }

  private static long count(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body().get("connections").asLong();
  }

  private static List<Map<String, AttributeValue>> rows(String table, String tenant) {
    try (DynamoDbClient dynamo = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      return dynamo
          .queryPaginator(
              r ->
                  r.tableName(table)
                      .keyConditionExpression("tenantId = :t")
                      .expressionAttributeValues(Map.of(":t", AttributeValue.fromS(tenant))))
          .items()
          .stream()
          .toList();
    }
  }

  /** The rows of a tenant, restricted to those with this value in an attribute. */
  private static List<Map<String, AttributeValue>> rows(String table, String tenant, String value) {
    return rows(table, tenant).stream()
        .filter(row -> row.containsValue(AttributeValue.fromS(value)))
        .toList();
  }

  /** The sockets in the rows of sessions. */
  private static List<String> sockets(List<Map<String, AttributeValue>> sessions) {
    return sessions.stream()
        .flatMap(
            row ->
                Optional.ofNullable(row.get("connectionIds"))
                    .map(ids -> ids.ss().stream())
                    .orElse(Stream.empty()))
        .toList();
  }

  private static void assertCount(String tenant, int open) {
    assertThat(count(tenant)).as("count of %s", tenant).isEqualTo(open);
    assertThat(sockets(rows("TablesSession", tenant))).as("sockets of %s", tenant).hasSize(open);
  }

  /** Opens and closes a socket, to check that the tenant can still connect. */
  private static void assertServed(String tenant) throws InterruptedException {
    Handshake handshake = connected(tenant, DEPLOYMENT.open(tenant));
    DEPLOYMENT.close(handshake);
  }

  private static Handshake connected(String tenant, String session) {
    Handshake handshake = DEPLOYMENT.connect(tenant, session);
    assertThat(handshake.status()).isEqualTo(101);
    return handshake;
  }

  /**
   * Opens this many sockets. A client repeats a handshake that the tenant's queue did not answer in
   * time.
   */
  private static List<Handshake> admitted(int sockets, String tenant, List<String> sessions) {
    List<Handshake> open = new ArrayList<>();
    List<String> missing =
        IntStream.range(0, sockets).mapToObj(i -> sessions.get(i % sessions.size())).toList();
    while (!missing.isEmpty()) {
      List<Handshake> tried = DEPLOYMENT.connectAll(missing.size(), tenant, missing);
      assertThat(tried).extracting(Handshake::status).isSubsetOf(101, 503);
      List<String> asked = missing;
      missing =
          IntStream.range(0, asked.size())
              .filter(i -> tried.get(i).status() == 503)
              .mapToObj(asked::get)
              .toList();
      tried.stream().filter(one -> one.status() == 101).forEach(open::add);
    }
    return open;
  }

  private static void send(Handshake from, String action, int first, int count) {
    for (int i = first; i < first + count; i++) {
      from.send("{\"action\":\"%s\",\"id\":\"m-%d\",\"message\":%d}".formatted(action, i, i));
    }
  }

  private static List<String> ids(List<JsonNode> frames) {
    return frames.stream().map(frame -> frame.get("id").asText()).toList();
  }

  private static List<String> numbered(int count) {
    return IntStream.range(0, count).mapToObj(i -> "m-" + i).toList();
  }

  @Test
  void counts_with_lost_disconnects_are_repaired() throws Exception {
    DEPLOYMENT.onboard("vanish", "gold", "{\"tenantConnections\":40}");
    List<String> sessions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      sessions.add(DEPLOYMENT.open("vanish"));
    }
    // Ten sockets per session, the limit of the tier.
    List<Handshake> open = admitted(40, "vanish", sessions);
    assertCount("vanish", 40);

    DEPLOYMENT.cloud().faults().loseEvents((function, event) -> function.contains("Disconnect"));
    for (int i = 0; i < 20; i++) {
      DEPLOYMENT.close(open.get(i * 2));
    }
    DEPLOYMENT.cloud().faults().loseEvents((function, event) -> false);
    assertThat(count("vanish")).isEqualTo(40);
    assertThat(DEPLOYMENT.connect("vanish", sessions.get(0)).status()).isEqualTo(429);

    DEPLOYMENT.advance(SOON);
    assertCount("vanish", 20);
    assertServed("vanish");
    for (int i = 0; i < 20; i++) {
      DEPLOYMENT.close(open.get(i * 2 + 1));
    }
    assertCount("vanish", 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TablesLimit", "TablesSession"})
  @Tag("nightly")
  void a_connection_after_a_crash_between_its_two_writes_is_repaired(String unwritten)
      throws Exception {
    String tenant = "dead-" + unwritten.substring(6).toLowerCase(java.util.Locale.ROOT);
    DEPLOYMENT.onboard(tenant, "gold", "{\"tenantConnections\":1}");
    String session = DEPLOYMENT.open(tenant);
    try (Injection injection =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(calls("Connect", "UpdateItem", unwritten), 1, crash("Connect"))) {
      assertThat(DEPLOYMENT.connect(tenant, session).status()).isEqualTo(500);
      assertThat(injection.count()).isEqualTo(1);
    }

    DEPLOYMENT.advance(SOON);
    assertCount(tenant, 0);
    assertServed(tenant);
  }

  @Test
  void a_session_row_deleted_with_open_sockets_closes_them_and_lowers_the_count() throws Exception {
    DEPLOYMENT.onboard("bereft", "gold", "{}");
    String session = DEPLOYMENT.open("bereft");
    Handshake one = connected("bereft", session);
    Handshake two = connected("bereft", session);
    Handshake bystander = connected("bereft", DEPLOYMENT.open("bereft"));
    List<String> deleted = sockets(rows("TablesSession", "bereft", session));
    assertThat(deleted).hasSize(2);

    try (DynamoDbClient dynamo = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      dynamo.deleteItem(
          r ->
              r.tableName("TablesSession")
                  .key(
                      Map.of(
                          "tenantId", AttributeValue.fromS("bereft"),
                          "sessionId", AttributeValue.fromS(session))));
    }
    DEPLOYMENT.cloud().settle();
    one.closed().join();
    two.closed().join();
    assertCount("bereft", 1);

    for (int times = 0; times < 2; times++) {
      DEPLOYMENT.invoke("SessionEnd", deletedRow("bereft", session, deleted));
    }
    assertCount("bereft", 1);
    DEPLOYMENT.advance(SOON);
    assertCount("bereft", 1);
    assertThat(bystander.closed()).isNotDone();
    DEPLOYMENT.close(bystander);
  }

  /** The stream record of a deleted session row. */
  private static String deletedRow(String tenant, String session, List<String> connections) {
    return """
        {"Records": [{"eventID": "1", "eventVersion": "1.1", "eventName": "REMOVE",
          "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
          "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/TablesSession/stream/1",
          "dynamodb": {"ApproximateCreationDateTime": 1767225600, "SequenceNumber": "1",
            "SizeBytes": 1, "StreamViewType": "NEW_AND_OLD_IMAGES",
            "Keys": {"tenantId": {"S": "%1$s"}, "sessionId": {"S": "%2$s"}},
            "OldImage": {"tenantId": {"S": "%1$s"}, "sessionId": {"S": "%2$s"},
              "sessionTTL": {"N": "1767225600"}, "connectionIds": {"SS": ["%3$s"]}}}}]}"""
        .formatted(tenant, session, String.join("\",\"", connections));
  }

  @Test
  void an_idle_session_ends_and_its_sockets_are_closed() throws Exception {
    DEPLOYMENT.onboard("idler", "gold", "{\"sessionTTL\":90}");
    Handshake handshake = connected("idler", DEPLOYMENT.open("idler"));
    DEPLOYMENT.advance(Duration.ofSeconds(80));
    assertThat(handshake.closed()).isNotDone();

    DEPLOYMENT.advance(SOON);
    handshake.closed().join();
    assertCount("idler", 0);
    assertThat(rows("TablesSession", "idler")).isEmpty();
  }

  @Test
  void a_session_in_use_does_not_end() throws Exception {
    DEPLOYMENT.onboard("diligent", "gold", "{\"sessionTTL\":90}");
    Handshake handshake = connected("diligent", DEPLOYMENT.open("diligent"));
    for (int minute = 0; minute < 4; minute++) {
      send(handshake, "PooledSQS", minute, 1);
      handshake.frames().await("reply", minute + 1);
      DEPLOYMENT.cloud().settle();
      DEPLOYMENT.advance(Duration.ofMinutes(1));
    }
    assertThat(handshake.closed()).isNotDone();
    assertCount("diligent", 1);
    DEPLOYMENT.close(handshake);
  }

  /**
   * A leaked session id is useful only until the end of the session's lifetime, even in constant
   * use.
   */
  @Tag("nightly")
  @Test
  void a_session_in_constant_use_ends_at_its_lifetime() throws Exception {
    DEPLOYMENT.onboard("leaked", "gold", "{\"sessionTTL\":90,\"sessionLifetime\":300}");
    String session = DEPLOYMENT.open("leaked");
    String query = Deployment.query("leaked", session);
    Instant lastsUntil =
        Instant.parse(DEPLOYMENT.session("GET", query).body().get("lastsUntil").asText());
    Handshake handshake = connected("leaked", session);
    int minute = 0;
    while (DEPLOYMENT.clock().instant().isBefore(lastsUntil.minusSeconds(60))) {
      DEPLOYMENT.close(connected("leaked", session));
      send(handshake, "PooledSQS", minute++, 1);
      handshake.frames().await("reply", minute);
      assertThat(DEPLOYMENT.session("PUT", query).status()).isEqualTo(200);
      DEPLOYMENT.cloud().settle();
      DEPLOYMENT.advance(Duration.ofMinutes(1));
    }
    assertThat(minute).isBetween(3, 5);
    assertThat(DEPLOYMENT.session("PUT", query).body().get("expiresAt").asText())
        .isEqualTo(lastsUntil.toString());

    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), lastsUntil));
    assertThat(DEPLOYMENT.session("PUT", query).status()).isEqualTo(404);
    assertThat(DEPLOYMENT.connect("leaked", session).status()).isEqualTo(403);
    DEPLOYMENT.advance(SOON);
    handshake.closed().join();
    assertCount("leaked", 0);
    // The records of its messages stay for ten minutes, so that a repeated message is not processed
    // again.
    DEPLOYMENT.advance(Duration.ofMinutes(11));
    assertThat(rows("TablesSession", "leaked")).isEmpty();
  }

  @Test
  void a_processor_that_crashes_between_claim_and_settle_loses_no_message() throws Exception {
    DEPLOYMENT.onboard("mortal", "silver", "{\"messagesPerMinute\":10}");
    Handshake handshake = connected("mortal", DEPLOYMENT.open("mortal"));
    try (Injection injection =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                calls("PoolProcessor", "DeleteMessageBatch", "message_mortal"),
                1,
                crash("PoolProcessor"))) {
      send(handshake, "PooledSQS", 0, 5);
      handshake.frames().await("accepted", 5);
      DEPLOYMENT.cloud().settle();
      assertThat(injection.count()).isEqualTo(1);
    }
    DEPLOYMENT.advance(SOON);
    assertThat(ids(handshake.frames().await("reply", 5))).isEqualTo(numbered(5));
    DEPLOYMENT.advance(SOON);
    JsonNode message =
        DEPLOYMENT.control("GET", "/tenants/mortal").body().findValue("buckets").get(1);
    assertThat(message.get("action").asText()).isEqualTo("message");
    assertThat(message.get("level").asInt()).isEqualTo(10);
    DEPLOYMENT.close(handshake);
  }

  static Stream<Arguments> outages() {
    Fault throttled = new Fault.Refused(400, "ThrottlingException", "Rate exceeded");
    return Stream.of(
        Arguments.of("tables-throttle", "BatchGetItem", throttled),
        Arguments.of("tables-hang", "BatchGetItem", new Fault.Hung()),
        Arguments.of("tables-break", "BatchGetItem", new Fault.Lost()),
        Arguments.of("tables-late", "BatchGetItem", new Fault.Unanswered()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("outages")
  void an_outage_under_the_processor_loses_no_message(String tenant, String operation, Fault fault)
      throws Exception {
    DEPLOYMENT.onboard(tenant, "silver", "{}");
    Handshake handshake = connected(tenant, DEPLOYMENT.open(tenant));
    Injection outage =
        DEPLOYMENT.cloud().faults().inject(calls("PoolProcessor", operation, ""), 1_000, fault);
    send(handshake, "PooledSQS", 0, 10);
    handshake.frames().await("accepted", 10);
    DEPLOYMENT.cloud().settle();
    assertThat(outage.count()).isPositive();
    assertThat(handshake.frames().of("reply")).isEmpty();
    outage.close();

    DEPLOYMENT.advance(SOON);
    assertThat(ids(handshake.frames().await("reply", 10))).isEqualTo(numbered(10));
    assertCount(tenant, 1);
    DEPLOYMENT.close(handshake);
  }

  @Test
  void an_unavailable_bucket_admits_or_refuses_as_its_tier_specifies() throws Exception {
    DEPLOYMENT.control(
        "PUT",
        "/tiers/waiting",
        """
        {"tier": "waiting", "isolation": "POOL", "onUnavailable": "REFUSE",
         "limits": {"tenantPerMinute": 60, "sessionPerMinute": 5, "connectionsPerSession": 2,
                    "tenantConnections": 10, "sessionTTL": 300, "messagesPerMinute": 60}}""");
    DEPLOYMENT.onboard("trusting", "silver", "{}");
    DEPLOYMENT.onboard("patient", "waiting", "{}");
    Handshake trusting = connected("trusting", DEPLOYMENT.open("trusting"));
    Handshake patient = connected("patient", DEPLOYMENT.open("patient"));
    try (Injection outage =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                calls("PoolProcessor", "ReceiveMessage", "message_"), 1_000, new Fault.Lost())) {
      send(trusting, "PooledSQS", 0, 3);
      send(patient, "PooledSQS", 0, 3);
      assertThat(ids(trusting.frames().await("reply", 3))).isEqualTo(numbered(3));
      DEPLOYMENT.cloud().settle();
      assertThat(patient.frames().of("reply")).isEmpty();
      assertThat(outage.count()).isPositive();
    }
    DEPLOYMENT.advance(SOON);
    assertThat(ids(patient.frames().await("reply", 3))).isEqualTo(numbered(3));
    DEPLOYMENT.close(trusting);
    DEPLOYMENT.close(patient);
  }

  @Test
  void a_bucket_without_its_queue_admits_nobody_until_the_queue_is_restored() throws Exception {
    DEPLOYMENT.onboard("queueless", "gold", "{}");
    // The sweep reconciles a tenant that is not yet settled in any case.
    DEPLOYMENT.advance(SOON);
    String session = DEPLOYMENT.open("queueless");
    try (SqsClient sqs = DEPLOYMENT.inspect(SqsClient.builder())) {
      String url = sqs.getQueueUrl(r -> r.queueName("connect_queueless_token_bucket")).queueUrl();
      sqs.deleteQueue(r -> r.queueUrl(url));
    }

    assertThat(DEPLOYMENT.connectAll(20, "queueless", List.of(session)))
        .extracting(Handshake::status)
        .containsOnly(429);

    // SQS allows the queue to be created again a minute after its deletion; the next fill adds its
    // tokens.
    DEPLOYMENT.advance(SOON.plus(SOON));
    assertServed("queueless");
  }

  /** Lets the next {@code times} calls of an operation fail with status 503. */
  private static Injection outageOf(String operation, int times) {
    return DEPLOYMENT
        .cloud()
        .faults()
        .inject(
            call -> call.operation().equals(operation),
            times,
            new Fault.Refused(503, "ServiceUnavailable", "Service is unavailable"));
  }

  @Test
  void a_message_that_its_queue_refuses_gets_an_error_frame() throws Exception {
    DEPLOYMENT.onboard("unheard", "silver", "{}");
    Handshake handshake = connected("unheard", DEPLOYMENT.open("unheard"));
    try (Injection outage = outageOf("SendMessageBatch", 1)) {
      send(handshake, "PooledSQS", 0, 1);
      assertThat(handshake.frames().await("error", 1).get(0).get("code").asText())
          .isEqualTo("UNAVAILABLE");
      assertThat(outage.count()).isEqualTo(1);
    }
    send(handshake, "PooledSQS", 0, 1);
    assertThat(ids(handshake.frames().await("reply", 1))).isEqualTo(numbered(1));
    DEPLOYMENT.close(handshake);
  }

  @Test
  void a_lost_socket_does_not_affect_other_sockets() throws Exception {
    DEPLOYMENT.onboard("lossy", "silver", "{}");
    String session = DEPLOYMENT.open("lossy");
    Handshake stays = connected("lossy", session);
    Handshake lost = connected("lossy", session);
    // The recount skips a socket that opened just now, because its handshake may still be running.
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    DEPLOYMENT.cloud().faults().loseEvents((function, event) -> function.contains("Disconnect"));
    DEPLOYMENT.close(lost);
    DEPLOYMENT.cloud().faults().loseEvents((function, event) -> false);
    assertThat(count("lossy")).isEqualTo(2);

    send(stays, "PooledSQS", 0, 5);
    assertThat(ids(stays.frames().await("reply", 5))).isEqualTo(numbered(5));
    DEPLOYMENT.cloud().settle();
    assertCount("lossy", 1);
    DEPLOYMENT.close(stays);
  }

  @Tag("nightly")
  @Test
  void a_change_from_silo_to_pool_loses_no_message() throws Exception {
    DEPLOYMENT.onboard("leaver", "gold", "{}");
    Handshake handshake = connected("leaver", DEPLOYMENT.open("leaver"));
    Injection outage =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(calls("silo_leaver", "BatchGetItem", ""), 1_000, new Fault.Lost());
    send(handshake, "SiloSQS", 0, 30);
    handshake.frames().await("accepted", 30);
    DEPLOYMENT.cloud().settle();
    assertThat(outage.count()).isPositive();

    assertThat(DEPLOYMENT.control("PATCH", "/tenants/leaver", "{\"tier\":\"silver\"}").status())
        .isEqualTo(200);
    send(handshake, "SiloSQS", 30, 1);
    assertThat(handshake.frames().await("error", 1).get(0).get("code").asText())
        .isEqualTo("NOT_SILO");
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    outage.close();
    for (int minute = 0; minute < 6; minute++) {
      DEPLOYMENT.advance(Duration.ofMinutes(1));
      send(handshake, "PooledSQS", 100 + minute, 1);
    }
    List<JsonNode> replies = handshake.frames().await("reply", 36);
    assertThat(ids(replies).stream().filter(id -> id.length() < 5)).isEqualTo(numbered(30));

    try (SqsClient sqs = DEPLOYMENT.inspect(SqsClient.builder());
        LambdaClient lambda = DEPLOYMENT.inspect(LambdaClient.builder())) {
      assertThat(sqs.listQueues().queueUrls()).noneMatch(url -> url.contains("silo_leaver"));
      assertThat(lambda.listEventSourceMappings(r -> {}).eventSourceMappings())
          .noneMatch(mapping -> mapping.functionArn().contains("silo_leaver"));
    }
    DEPLOYMENT.close(handshake);
  }

  @Test
  void a_suspended_tenant_cannot_connect_until_it_is_activated() throws Exception {
    DEPLOYMENT.onboard("paused", "gold", "{\"tenantPerMinute\":5}");
    String session = DEPLOYMENT.open("paused");
    Handshake handshake = connected("paused", session);

    assertThat(
            DEPLOYMENT.control("PATCH", "/tenants/paused", "{\"status\":\"SUSPENDED\"}").status())
        .isEqualTo(200);
    handshake.closed().join();
    DEPLOYMENT.cloud().settle();
    assertCount("paused", 0);
    assertThat(DEPLOYMENT.connect("paused", session).status()).isEqualTo(403);
    assertThat(DEPLOYMENT.session("PUT", "?tenantId=paused").status()).isEqualTo(403);
    long level = connectLevel("paused");
    DEPLOYMENT.advance(SOON);
    assertThat(connectLevel("paused")).isEqualTo(level).isLessThan(5);

    assertThat(DEPLOYMENT.control("PATCH", "/tenants/paused", "{\"status\":\"ACTIVE\"}").status())
        .isEqualTo(200);
    assertServed("paused");
    DEPLOYMENT.advance(SOON);
    assertThat(connectLevel("paused")).isEqualTo(5);
  }

  @Test
  void a_message_on_a_socket_left_open_after_suspension_is_refused() throws Exception {
    DEPLOYMENT.onboard("muted", "silver", "{}");
    Handshake handshake = connected("muted", DEPLOYMENT.open("muted"));
    try (Injection outage = outageOf("DeleteConnection", 100)) {
      DEPLOYMENT.control("PATCH", "/tenants/muted", "{\"status\":\"SUSPENDED\"}");
      assertThat(outage.count()).isPositive();
      send(handshake, "PooledSQS", 0, 1);

      assertThat(handshake.frames().await("error", 1).get(0).get("code").asText())
          .isEqualTo("SUSPENDED");
    }
    DEPLOYMENT.advance(SOON);
    handshake.closed().join();
    assertCount("muted", 0);
  }

  private static long connectLevel(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body().at("/buckets/0/level").asLong();
  }
}
