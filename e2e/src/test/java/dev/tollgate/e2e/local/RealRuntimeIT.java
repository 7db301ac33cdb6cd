package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.process.DeployedFunction;
import dev.tollgate.local.lambda.process.FunctionProcess;
import dev.tollgate.local.lambda.process.Jdk;
import dev.tollgate.local.lambda.process.LambdaRuntime;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;

/**
 * Every function of the template runs as on AWS: its jar in a JVM of its own, under AWS's runtime
 * interface client, with the environment variables that the template gives it and credentials from
 * the endpoint of its container. One event of each kind goes through it, for one tenant; the same
 * event for a second tenant goes through the local cloud's own host. Both answer the same.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "AWS's runtime interface client has native code")
final class RealRuntimeIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The tenant of the events that the local cloud's host gets. */
  private static final Side HOST = new Side("hosted");

  /** The tenant of the events that the real runtime gets. */
  private static final Side REAL = new Side("real");

  private static final Pattern SESSION =
      Pattern.compile("\\\\\"sessionId\\\\\":\\\\\"([0-9a-f]{32})");

  @TempDir private static Path directory;
  private static LocalDeployment deployment;
  private static LambdaRuntime runtime;
  private static LambdaClient lambda;
  private static final Set<String> RUN = new TreeSet<>();
  private static final List<String> TABLE = new ArrayList<>();

  private final HttpClient http = HttpClient.newHttpClient();

  /** A tenant, and what only its answers contain. */
  private static final class Side {
    private final String tenant;

    /** What stands for a text in normalized answers. */
    private final Map<String, String> names = new LinkedHashMap<>();

    private Side(String tenant) {
      this.tenant = tenant;
      names.put(tenant, "TENANT");
    }

    /** Notes the id of a session that an answer of the session API contains. */
    void learn(String answer) {
      Matcher session = SESSION.matcher(answer);
      if (session.find()) {
        names.put(session.group(1), "SESSION");
      }
    }

    /** The latest text that a name stands for. */
    String named(String name) {
      return names.entrySet().stream()
          .filter(known -> known.getValue().equals(name))
          .map(Map.Entry::getKey)
          .reduce((earlier, later) -> later)
          .orElseThrow();
    }

    /** An answer without what differs between two tenants and two instants. */
    String normalized(String answer) {
      String text = answer;
      for (Map.Entry<String, String> name : names.entrySet()) {
        text = text.replace(name.getKey(), name.getValue());
      }
      return text.replaceAll("\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z", "INSTANT")
          .replaceAll("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UUID")
          .replaceAll("(?<=level\\\\?\":)\\d+", "0")
          .replaceAll(";t=\\d+", ";t=0")
          .replaceAll("\\b(minted|trimmed|level)=\\d+", "$1=0")
          .replaceAll("\\b1[789]\\d{8}(\\d{3})?\\b", "EPOCH");
    }
  }

  /** Makes an event of a kind for a tenant. */
  @FunctionalInterface
  private interface Event {
    String of(Side side) throws Exception;
  }

  /**
   * A kind of event.
   *
   * @param expected a part of the answer
   */
  private record Kind(String name, Event event, String expected) {}

  @BeforeAll
  static void start() throws Exception {
    deployment = LocalDeployment.atSystemTime();
    lambda = deployment.inspect(LambdaClient.builder());
    runtime =
        new LambdaRuntime(
            directory, new LambdaRuntime.Account("us-east-1", deployment.cloud().endpoint()));
    TABLE.add(
        "%-16s %6s %8s %8s %8s  %s"
            .formatted("function", "events", "init ms", "first ms", "next ms", "Java"));
  }

  @AfterAll
  static void stop() {
    lambda.close();
    deployment.close();
    System.out.println(String.join("\n", TABLE));
  }

  private static DeployedFunction function(String name) {
    return DeployedFunction.of(lambda.getFunction(r -> r.functionName(name)));
  }

  private static FunctionProcess start(DeployedFunction function) throws IOException {
    AccessKey key = deployment.cloud().accessKeyOf(function.roleArn().replaceFirst(".*:role/", ""));
    return runtime.start(Jdk.of(function.runtime()), function, key);
  }

  /** Sends events of these kinds through a function of both hosts and compares the answers. */
  private static void compare(String name, Kind... kinds) throws Exception {
    compare(side -> name, kinds);
  }

  private static void compare(Function<Side, String> name, Kind... kinds) throws Exception {
    DeployedFunction function = function(name.apply(REAL));
    RUN.add(function.handler());
    List<Long> times = new ArrayList<>();
    try (FunctionProcess process = start(function)) {
      assertThat(process.initError()).as(process.output()).isEmpty();
      for (Kind kind : kinds) {
        // The real runtime has the real clock. What is due in the cloud happens before the event.
        Duration behind = Duration.between(deployment.clock().instant(), Instant.now());
        if (!behind.isNegative()) {
          deployment.advance(behind);
        }
        String hosted =
            withoutTrace(deployment.invocation(name.apply(HOST), eventOf(kind, HOST)).body());
        HOST.learn(hosted);
        String event = eventOf(kind, REAL);
        deployment.cloud().requests().clear();
        long start = System.nanoTime();
        String real = text(process.invoke(event));
        times.add(Duration.ofNanos(System.nanoTime() - start).toMillis());
        REAL.learn(real);
        assertThat(JSON.readTree(REAL.normalized(real)))
            .as("%s: %s%n%s", function.name(), kind.name(), process.output())
            .isEqualTo(JSON.readTree(HOST.normalized(hosted)));
        assertThat(real).as(kind.name()).contains(kind.expected());
        assertThat(deployment.cloud().requests().list())
            .extracting(Request::status)
            .doesNotContain(403);
      }
      assertThat(process.credentialsRead())
          .as(function.name())
          .isEqualTo(function.snapStart() && callsAws(function) ? 1 : 0);
      TABLE.add(
          "%-16s %6d %8d %8d %8s  %s for %s%s"
              .formatted(
                  function.name(),
                  kinds.length,
                  process.initTime().toMillis(),
                  times.get(0),
                  times.size() > 1 ? times.get(times.size() - 1) : "-",
                  Jdk.of(function.runtime()).version(),
                  function.runtime(),
                  function.snapStart() ? ", SnapStart" : ""));
    }
  }

  private static String eventOf(Kind kind, Side side) throws Exception {
    String event = kind.event().of(side);
    JsonNode context = JSON.readTree(event).path("requestContext");
    if (context.has("requestId")) {
      side.names.put(context.get("requestId").asText(), "REQUEST");
    }
    if (context.has("connectionId")) {
      side.names.put(context.get("connectionId").asText(), "CONNECTION");
    }
    return event;
  }

  private static boolean callsAws(DeployedFunction function) {
    return function.name().equals("AuditEvents")
        || function.variables().keySet().stream().anyMatch(name -> name.endsWith("_TABLE"));
  }

  private static String text(InvocationResult answer) throws IOException {
    return answer instanceof Success success
        ? new String(success.payload(), StandardCharsets.UTF_8)
        : withoutTrace(new String(((Failure) answer).payload(), StandardCharsets.UTF_8));
  }

  /** An answer; an error without its stack trace, whose last lines are of the host. */
  private static String withoutTrace(String answer) throws IOException {
    JsonNode json = JSON.readTree(answer);
    if (json instanceof ObjectNode object) {
      object.remove("stackTrace");
    }
    return json.toString();
  }

  /** The event that API Gateway makes of a request for a function, which does not get it. */
  private String event(String function, HttpRequest request) throws Exception {
    return caught(function, () -> http.send(request, BodyHandlers.discarding()));
  }

  private static String caught(String function, LocalDeployment.Action action) throws Exception {
    AtomicReference<String> caught = new AtomicReference<>("");
    deployment
        .cloud()
        .faults()
        .loseEvents(
            (arn, event) ->
                arn.contains(":function:" + function) && caught.compareAndSet("", event));
    action.run();
    deployment.cloud().faults().loseEvents((arn, event) -> false);
    String event = Optional.ofNullable(caught.get()).orElse("");
    assertThat(event).as("event of %s", function).isNotEmpty();
    return event;
  }

  private static HttpRequest request(String method, String url, String body) {
    return HttpRequest.newBuilder(URI.create(url))
        .header("content-type", "application/json")
        .method(method, BodyPublishers.ofString(body))
        .build();
  }

  private Event control(String method, String path, String body) {
    return side ->
        event(
            "ControlPlane",
            request(
                method,
                deployment.outputs().get("ControlPlaneURL") + path.replace("TENANT", side.tenant),
                body.replace("TENANT", side.tenant)));
  }

  private Event session(String method, String query) {
    return side ->
        event(
            "SessionApi",
            request(
                method,
                deployment.outputs().get("SessionURL")
                    + "?tenantId="
                    + side.tenant
                    + (query.contains("SESSION")
                        ? query.replace("SESSION", side.named("SESSION"))
                        : query),
                ""));
  }

  /** The event of a handshake for the authorizer or for {@code $connect}. */
  private Event handshake(String function) {
    return side -> {
      URI url =
          URI.create(
              deployment.outputs().get("WebSocketURL")
                  + Deployment.query(side.tenant, side.named("SESSION")));
      return caught(
          function,
          () ->
              http.newWebSocketBuilder()
                  .buildAsync(url, new WebSocket.Listener() {})
                  .handle((socket, refused) -> "")
                  .join());
    };
  }

  @Test
  void a_function_without_one_of_its_variables_names_it_in_the_error_of_its_init_phase()
      throws Exception {
    try (FunctionProcess process = start(function("Connect").without("SESSION_TABLE"))) {
      Failure error = (Failure) process.invoke("{}");
      assertThat(error.type()).isEqualTo("dev.tollgate.aws.config.MissingVariable");
      assertThat(error.message()).contains("environment variable SESSION_TABLE is not set");
    }
  }

  /** The {@code $disconnect} event of the last handshake. */
  private static Event disconnect() {
    return side ->
        """
        {"requestContext":{"routeKey":"$disconnect","eventType":"DISCONNECT","extendedRequestId":"x",
          "requestTime":"01/Jan/2026:00:00:00 +0000","messageDirection":"IN","stage":"live",
          "connectedAt":1767225600000,"requestTimeEpoch":1767225600000,"identity":{"sourceIp":"127.0.0.1"},
          "requestId":"r","domainName":"localhost","connectionId":"%s","apiId":"a",
          "disconnectStatusCode":1000,"disconnectReason":"",
          "authorizer":{"principalId":"%2$s","tenantId":"%2$s","sessionId":"%3$s"}},
         "isBase64Encoded":false}
        """
            .formatted(side.named("CONNECTION"), side.tenant, side.named("SESSION"));
  }

  /**
   * A batch of messages as Lambda reads it from a FIFO queue.
   *
   * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html">Using Lambda with
   *     Amazon SQS: example FIFO queue message event</a>
   */
  private static Event push() {
    return side -> {
      ObjectNode event =
          JSON.readValue(messages("push.fifo", "\"hello\"").of(side), ObjectNode.class);
      ObjectNode record = (ObjectNode) event.withArray("Records").get(0);
      record.withObject("/attributes").put("MessageGroupId", side.tenant);
      record
          .withObject("/messageAttributes")
          .putObject("id")
          .put("stringValue", "push-1")
          .put("dataType", "String");
      return event.toString();
    };
  }

  private static Event messages(String queue, String... frames) {
    return side -> {
      ObjectNode event = JSON.createObjectNode();
      for (String frame : frames) {
        ObjectNode record = event.withArray("Records").addObject();
        record.put("messageId", UUID.randomUUID().toString());
        record.put("receiptHandle", "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a");
        record.put("body", frame);
        record
            .putObject("attributes")
            .put("ApproximateReceiveCount", "1")
            .put("SentTimestamp", Long.toString(Instant.now().toEpochMilli()))
            .put("SequenceNumber", "18849496460467696128")
            .put("MessageGroupId", side.tenant + ":" + side.named("SESSION"))
            .put("SenderId", "AIDAIO23YVJENQZJOL4VO")
            .put("MessageDeduplicationId", UUID.randomUUID().toString())
            .put("ApproximateFirstReceiveTimestamp", Long.toString(Instant.now().toEpochMilli()));
        record
            .putObject("messageAttributes")
            .putObject("connectionId")
            .put("stringValue", side.named("SOCKET"))
            .put("dataType", "String")
            .set("stringListValues", JSON.createArrayNode());
        record.put("md5OfBody", "e4e68fb7bd0e697a0ae8f1bb342846b3");
        record.put("eventSource", "aws:sqs");
        record.put(
            "eventSourceARN",
            "arn:aws:sqs:us-east-1:000000000000:" + queue.replace("TENANT", side.tenant));
        record.put("awsRegion", "us-east-1");
      }
      return event.toString();
    };
  }

  /**
   * The record of a deleted row with an open socket, as Lambda reads it from a stream.
   *
   * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html">Using AWS Lambda with
   *     Amazon DynamoDB: example event</a>
   */
  private static Event deletedRow() {
    return side ->
        """
        {"Records": [{"eventID": "c4ca4238a0b923820dcc509a6f75849b", "eventVersion": "1.1",
          "eventName": "REMOVE", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
          "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
          "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/TablesSession/stream/1",
          "dynamodb": {"ApproximateCreationDateTime": 1767225600.0,
            "SequenceNumber": "4421584500000000017450439091", "SizeBytes": 26,
            "StreamViewType": "OLD_IMAGE",
            "Keys": {"tenantId": {"S": "%1$s"}, "sessionId": {"S": "%2$s"}},
            "OldImage": {"tenantId": {"S": "%1$s"}, "sessionId": {"S": "%2$s"},
              "sessionTTL": {"N": "1767225600"}, "connectionIds": {"SS": ["%3$s"]}}}}]}
        """
            .formatted(side.tenant, side.named("SESSION"), side.named("SOCKET"));
  }

  /** An event of the Limit table's stream: a connection was counted. */
  private static Event countedConnection() {
    return side ->
        """
        {"Records": [{"eventID": "c81e728d9d4c2f636f067f89cc14862c", "eventVersion": "1.1",
          "eventName": "MODIFY", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
          "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/TablesLimit/stream/1",
          "dynamodb": {"ApproximateCreationDateTime": 1767225600.0,
            "SequenceNumber": "4421584500000000017450439092", "SizeBytes": 26,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
            "Keys": {"tenantId": {"S": "%1$s"}, "key": {"S": "connections"}},
            "OldImage": {"tenantId": {"S": "%1$s"}, "key": {"S": "connections"},
              "itemCount": {"N": "1"}, "admitted": {"N": "1"}},
            "NewImage": {"tenantId": {"S": "%1$s"}, "key": {"S": "connections"},
              "itemCount": {"N": "2"}, "admitted": {"N": "2"}}}}]}
        """
            .formatted(side.tenant);
  }

  private static Event changedTenant() {
    return side ->
        streamRecord(
            "TablesTenant",
            """
            "Keys": {"tenantId": {"S": "%1$s"}},
            "OldImage": {"tenantId": {"S": "%1$s"}, "version": {"N": "1"}, "tier": {"S": "gold"}},
            "NewImage": {"tenantId": {"S": "%1$s"}, "version": {"N": "2"}, "tier": {"S": "bronze"},
              "changedBy": {"S": "alice"}, "changedIn": {"S": "request-1"}}"""
                .formatted(side.tenant));
  }

  private static Event auditEntry() {
    return side ->
        streamRecord(
            "TablesAudit",
            """
            "Keys": {"subject": {"S": "tenant/%1$s"}, "at": {"S": "2026-03-12T14:05:11.000Z#1-x"}},
            "NewImage": {"subject": {"S": "tenant/%1$s"},
              "at": {"S": "2026-03-12T14:05:11.000Z#1-x"}, "id": {"S": "1-x"},
              "what": {"S": "TenantChanged"}, "by": {"S": "alice"}, "request": {"S": "request-1"},
              "from": {"M": {"tier": {"S": "gold"}}}, "to": {"M": {"tier": {"S": "bronze"}}}}"""
                .formatted(side.tenant));
  }

  private static String streamRecord(String table, String images) {
    return """
        {"Records": [{"eventID": "c4ca4238a0b923820dcc509a6f75849b", "eventName": "MODIFY",
          "eventVersion": "1.1", "eventSource": "aws:dynamodb", "awsRegion": "us-east-1",
          "eventSourceARN": "arn:aws:dynamodb:us-east-1:000000000000:table/%s/stream/x",
          "dynamodb": {"ApproximateCreationDateTime": 1773324311,
            "SequenceNumber": "4421584500000000017450439092", "SizeBytes": 26,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
            %s}}]}
        """
        .formatted(table, images);
  }

  /** The input that a schedule sends to its function. */
  private static Event schedule(String name) {
    return side -> {
      try (SchedulerClient schedules = deployment.inspect(SchedulerClient.builder())) {
        ScheduleSummary found =
            schedules
                .listSchedules(r -> r.namePrefix(name.replace("TENANT", side.tenant)))
                .schedules()
                .get(0);
        return schedules
            .getSchedule(r -> r.name(found.name()).groupName(found.groupName()))
            .target()
            .input()
            .replace(
                "<aws.scheduler.scheduled-time>",
                Instant.now().truncatedTo(ChronoUnit.MINUTES).toString());
      }
    };
  }

  private static Event same(String event) {
    return side -> event.replace("TENANT", side.tenant);
  }

  private Event page(String path) {
    String sample = Optional.ofNullable(deployment.outputs().get("SampleClient")).orElseThrow();
    return side -> event("Console", request("GET", sample + path, ""));
  }

  @Test
  @Tag("nightly")
  void every_function_answers_as_in_the_local_host() throws Exception {
    compare(
        "ControlPlane",
        new Kind(
            "POST /tenants",
            control(
                "POST",
                "/tenants",
                "{\"tenantId\":\"TENANT\",\"tier\":\"gold\",\"overrides\":{\"messagesPerMinute\":60}}"),
            "\"statusCode\":201"),
        new Kind("GET /tenants/{id}", control("GET", "/tenants/TENANT", ""), "\"statusCode\":200"),
        new Kind(
            "PATCH /tenants/{id}",
            control(
                "PATCH",
                "/tenants/TENANT",
                "{\"overrides\":{\"messagesPerMinute\":60,\"sessionTTL\":200}}"),
            "\"statusCode\":200"),
        new Kind("GET /tenants/none", control("GET", "/tenants/none", ""), "\"statusCode\":404"));
    compare(
        "SessionApi",
        new Kind("PUT", session("PUT", ""), "\"statusCode\":201"),
        new Kind("GET", session("GET", "&sessionId=SESSION"), "\"statusCode\":200"),
        new Kind(
            "no such session",
            session("GET", "&sessionId=" + "0".repeat(32)),
            "\"statusCode\":404"));
    compare(
        "Authorizer",
        new Kind("handshake", handshake("Authorizer"), "\"verdict\":\"ADMIT\""),
        new Kind(
            "unknown tenant",
            side -> handshake("Authorizer").of(side).replace(side.tenant, "nobody"),
            "\"Effect\":\"Deny\""));
    compare("Connect", new Kind("$connect", handshake("Connect"), "\"statusCode\":200"));
    compare("Disconnect", new Kind("$disconnect", disconnect(), "\"statusCode\":200"));
    Handshake hosted = open(HOST);
    Handshake real = open(REAL);
    compare(
        "PoolProcessor",
        new Kind(
            "batch of the pool",
            messages(
                "pool.fifo",
                "{\"action\":\"PooledSQS\",\"id\":\"p1\",\"message\":{\"a\":[1.0,null]}}",
                "{\"action\":\"PooledSQS\",\"id\":\"p2\",\"message\":\"hello\"}",
                "{\"action\":\"PooledSQS\",\"id\":\"p3\"}"),
            "{\"batchItemFailures\":[]}"));
    compare(
        side -> "silo_" + side.tenant,
        new Kind(
            "batch of a silo",
            messages(
                "silo_TENANT.fifo", "{\"action\":\"SiloSQS\",\"id\":\"s1\",\"message\":\"hello\"}"),
            "{\"batchItemFailures\":[]}"));
    hosted.frames().await("reply", 3);
    real.frames().await("reply", 3);
    assertThat(REAL.normalized(String.join("\n", real.frames().texts())))
        .isEqualTo(HOST.normalized(String.join("\n", hosted.frames().texts())));
    compare("TenantPusher", new Kind("page of a push", push(), "null"));
    compare(
        "TokenProducer",
        new Kind("schedule of a bucket", schedule("connect_TENANT"), "bucket connect: "),
        new Kind(
            "schedule of a shard",
            same("{\"shard\":\"shard-3\",\"scheduledTime\":\"2026-01-01T00:00:00Z\"}"),
            "shard-3: "),
        new Kind(
            "request of a claim",
            same("{\"tenantId\":\"TENANT\",\"action\":\"message\"}"),
            "bucket message: "),
        new Kind("no input", same("null"), "\"errorType\":\"dev.tollgate.core.InvalidValue\""));
    compare("Housekeeper", new Kind("schedule", schedule("housekeeper"), "visitedTenants"));
    compare("Sweep", new Kind("schedule", schedule("sweep"), "\"settledTenants\""));
    compare(
        "HistoryWriter",
        new Kind("counted connection", countedConnection(), "{\"batchItemFailures\":[]}"),
        new Kind("schedule", schedule("historywriter"), "{\"batchItemFailures\":[]}"));
    compare(
        "AuditWriter", new Kind("changed tenant", changedTenant(), "{\"batchItemFailures\":[]}"));
    compare(
        "AuditEvents", new Kind("entry of the audit", auditEntry(), "{\"batchItemFailures\":[]}"));
    compare("SessionEnd", new Kind("deleted row", deletedRow(), "{\"batchItemFailures\":[]}"));
    hosted.closed().join();
    real.closed().join();
    compare(
        "Console",
        new Kind("page", page(""), "\"statusCode\":200"),
        new Kind("configuration", page("config.json"), "\"statusCode\":200"),
        new Kind("no such page", page("nosuch"), "\"statusCode\":404"));
    assertThat(RUN).isEqualTo(handlersOfTemplate());
  }

  /** Opens a socket and notes its connection, which its session's row lists. */
  private static Handshake open(Side side) {
    Handshake socket = deployment.connect(side.tenant, side.named("SESSION"));
    assertThat(socket.status()).isEqualTo(101);
    try (DynamoDbClient rows = deployment.inspect(DynamoDbClient.builder())) {
      Map<String, AttributeValue> key =
          Map.of(
              "tenantId", AttributeValue.fromS(side.tenant),
              "sessionId", AttributeValue.fromS(side.named("SESSION")));
      Map<String, AttributeValue> row =
          rows.getItem(r -> r.tableName("TablesSession").key(key)).item();
      List<String> connections =
          Optional.ofNullable(row.get("connectionIds")).map(AttributeValue::ss).orElse(List.of());
      assertThat(connections).as("the connection of $disconnect is gone").hasSize(1);
      side.names.put(connections.get(0), "SOCKET");
    }
    return socket;
  }

  private static Set<String> handlersOfTemplate() throws IOException {
    Set<String> handlers = new TreeSet<>();
    for (JsonNode resource :
        JSON.readTree(new File("../infra/target/cdk.out/Tollgate.template.json"))
            .path("Resources")) {
      if (resource.path("Type").asText().equals("AWS::Lambda::Function")) {
        handlers.add(resource.at("/Properties/Handler").asText());
      }
    }
    return handlers;
  }
}
