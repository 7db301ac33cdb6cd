package dev.tollgate.e2e.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.process.DeployedFunction;
import dev.tollgate.local.lambda.process.FunctionProcess;
import dev.tollgate.local.lambda.process.Jdk;
import dev.tollgate.local.lambda.process.LambdaRuntime;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.lambda.LambdaClient;

/** Traces of handshakes and messages, from the functions to X-Ray. */
@Tag("nightly")
final class TracingIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  @TempDir private static Path directory;
  private static LocalDeployment deployment;

  @BeforeAll
  static void deploy() throws Exception {
    deployment = LocalDeployment.of(Assembly.synthesize(directory, Map.of("tracing", "true")));
    for (String tenant : List.of("acme", "busy", "full")) {
      assertThat(
              deployment
                  .onboard(tenant, tenant.equals("full") ? "gold" : "silver", limits(tenant))
                  .status())
          .isEqualTo(201);
    }
  }

  private static String limits(String tenant) {
    return tenant.equals("full") ? "{\"connectionsPerSession\":1}" : "{}";
  }

  @AfterAll
  static void stop() {
    deployment.close();
  }

  @Test
  void a_handshake_its_message_and_its_end_are_one_trace() throws Exception {
    Instant opened = deployment.clock().instant();
    Handshake client = connect("acme");
    deployment.advance(Duration.ofSeconds(30));
    client.send("{\"action\":\"PooledSQS\",\"id\":\"m-1\",\"message\":1}");
    client.frames().await("accepted", 1);
    deployment.cloud().settle();
    deployment.close(client);

    List<JsonNode> trace = onlyTrace("annotation.tenantId = \"acme\"", 4);

    assertThat(trace)
        .extracting(segment -> segment.path("name").asText())
        .containsExactlyInAnyOrder("Authorizer", "Connect", "MessageProcessor", "Disconnect");
    JsonNode authorizer = segment(trace, "Authorizer");
    for (JsonNode segment : trace) {
      assertThat(segment.has("fault") || segment.has("error")).as("%s", segment).isFalse();
      assertThat(segment.path("annotations").path("tenantId").asText()).isEqualTo("acme");
      assertThat(segment.path("start_time").decimalValue())
          .isGreaterThanOrEqualTo(authorizer.path("start_time").decimalValue());
      for (JsonNode request : segment.path("subsegments")) {
        assertThat(request.path("start_time").decimalValue())
            .isGreaterThanOrEqualTo(segment.path("start_time").decimalValue());
        assertThat(request.path("end_time").decimalValue())
            .isLessThanOrEqualTo(segment.path("end_time").decimalValue());
        assertThat(request.at("/http/response/status").asInt()).isEqualTo(200);
        assertThat(request.path("namespace").asText()).isEqualTo("aws");
      }
      if (!segment.equals(authorizer)) {
        assertThat(segment.path("parent_id")).isEqualTo(authorizer.path("id"));
        assertThat(segment.path("annotations").path("connectionId").asText()).isNotEmpty();
      }
    }
    assertThat(trace.stream().map(each -> each.at("/annotations/connectionId").asText("")))
        .filteredOn(id -> !id.isEmpty())
        .hasSize(3)
        .containsOnly(segment(trace, "Connect").at("/annotations/connectionId").asText());
    assertThat(operations(authorizer)).contains("BatchGetItem", "ReceiveMessage");
    assertThat(operations(segment(trace, "Connect"))).contains("UpdateItem", "DeleteMessageBatch");
    assertThat(operations(segment(trace, "MessageProcessor")))
        .contains("BatchGetItem", "ReceiveMessage", "PostToConnection");
    assertThat(authorizer.path("start_time").asLong()).isEqualTo(opened.getEpochSecond());
    assertThat(segment(trace, "MessageProcessor").path("start_time").asLong())
        .isEqualTo(opened.getEpochSecond() + 30);
    assertThat(trace.toString()).doesNotContain(client.frames().texts()).doesNotContain("session");
  }

  /** The segments of the only trace that the filter finds. */
  private static List<JsonNode> onlyTrace(String filter, int segments) throws Exception {
    deployment.cloud().settle();
    List<String> ids = ids(filter);
    assertThat(ids).hasSize(1);
    JsonNode trace =
        xray("/Traces", "{\"TraceIds\":[\"" + ids.get(0) + "\"]}").at("/Traces/0/Segments");
    assertThat(trace).hasSize(segments);
    List<JsonNode> documents = new ArrayList<>();
    for (JsonNode segment : trace) {
      documents.add(JSON.readTree(segment.path("Document").asText()));
    }
    return documents;
  }

  private static List<String> ids(String filter) throws Exception {
    long now = deployment.clock().instant().getEpochSecond();
    JsonNode found =
        xray(
            "/TraceSummaries",
            JSON.createObjectNode()
                .put("StartTime", now - 3_600)
                .put("EndTime", now + 1)
                .put("FilterExpression", filter)
                .toString());
    List<String> ids = new ArrayList<>();
    found.path("TraceSummaries").forEach(summary -> ids.add(summary.path("Id").asText()));
    return ids;
  }

  private static JsonNode xray(String path, String body) throws Exception {
    HttpResponse<String> response = deployment.post("xray", path, body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return JSON.readTree(response.body());
  }

  @Test
  void a_refused_handshake_is_a_trace_with_the_reason() throws Exception {
    String session = deployment.open("full");
    Handshake holder = deployment.connect("full", session);
    assertThat(holder.status()).isEqualTo(101);

    assertThat(deployment.connect("full", session).status()).isEqualTo(429);

    List<JsonNode> trace = onlyTrace("annotation.outcome = \"SESSION_CONNECTIONS\"", 2);
    assertThat(trace)
        .allSatisfy(
            segment -> {
              assertThat(segment.path("throttle").asBoolean()).isTrue();
              assertThat(segment.path("error").asBoolean()).isTrue();
              assertThat(segment.path("fault").asBoolean()).isFalse();
            });
    assertThat(segment(trace, "Connect").path("parent_id"))
        .isEqualTo(segment(trace, "Authorizer").path("id"));
    deployment.close(holder);
  }

  @Test
  void a_denied_handshake_is_a_trace_of_the_authorizer_alone() throws Exception {
    assertThat(deployment.connect("nobody", deployment.open("busy")).status()).isEqualTo(403);

    List<JsonNode> trace = onlyTrace("annotation.tenantId = \"nobody\"", 1);

    assertThat(trace.get(0).at("/annotations/outcome").asText()).isEqualTo("UNKNOWN");
    assertThat(trace.get(0).path("error").asBoolean()).isTrue();
  }

  @Test
  void tracing_adds_no_request() throws Exception {
    String session = deployment.open("busy");
    deployment.close(deployment.connect("busy", session));
    List<Handshake> admitted = new ArrayList<>();

    List<Request> requests =
        deployment.requestsOf(() -> admitted.add(deployment.connect("busy", session)));

    assertThat(requests)
        .extracting(Request::operation)
        .containsExactlyInAnyOrder(
            "BatchGetItem", "ReceiveMessage", "UpdateItem", "UpdateItem", "DeleteMessageBatch");
    deployment.close(admitted.get(0));
  }

  /** Lambda's own runtime client passes the trace header in another way than the local cloud. */
  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "AWS's runtime interface client has native code")
  void under_awss_runtime_client_a_function_finds_the_header_of_its_invocation(
      @TempDir Path processes) throws Exception {
    String session = deployment.open("busy");
    String event =
        JSON.createObjectNode()
            .put("methodArn", "arn:aws:execute-api:us-east-1:000000000000:a/production/$connect")
            .set(
                "queryStringParameters",
                JSON.createObjectNode().put("tenantId", "busy").put("sessionId", session))
            .toString();
    LambdaRuntime runtime =
        new LambdaRuntime(
            processes, new LambdaRuntime.Account("us-east-1", deployment.cloud().endpoint()));
    DeployedFunction authorizer = authorizer();
    try (DatagramSocket daemon = new DatagramSocket(0, InetAddress.getLoopbackAddress());
        FunctionProcess process =
            runtime.start(
                Jdk.of(authorizer.runtime()),
                authorizer.with("AWS_XRAY_DAEMON_ADDRESS", "127.0.0.1:" + daemon.getLocalPort()),
                deployment
                    .cloud()
                    .accessKeyOf(authorizer.roleArn().replaceFirst(".*:role/", "")))) {
      daemon.setSoTimeout((int) PATIENCE.toMillis());

      String answer = new String(((Success) process.invoke(event)).payload(), UTF_8);

      DatagramPacket packet = new DatagramPacket(new byte[65_507], 65_507);
      daemon.receive(packet);
      String[] lines = new String(packet.getData(), 0, packet.getLength(), UTF_8).split("\n", 2);
      JsonNode segment = JSON.readTree(lines[1]);
      assertThat(segment.path("trace_id").asText())
          .isEqualTo("1-5759e988-bd862e3fe1be46a994272793");
      assertThat(segment.path("parent_id").asText()).isEqualTo("53995c3f42cd8ad8");
      assertThat(operations(segment)).contains("BatchGetItem");
      assertThat(JSON.readTree(answer).at("/context/trace").asText())
          .isEqualTo(
              "Root=1-5759e988-bd862e3fe1be46a994272793;Parent="
                  + segment.path("id").asText()
                  + ";Sampled=1");
    }
  }

  private static DeployedFunction authorizer() {
    try (LambdaClient lambda = deployment.inspect(LambdaClient.builder())) {
      return DeployedFunction.of(lambda.getFunction(r -> r.functionName("Authorizer")));
    }
  }

  private static Handshake connect(String tenant) {
    Handshake client = deployment.connect(tenant, deployment.open(tenant));
    assertThat(client.status()).isEqualTo(101);
    return client;
  }

  private static JsonNode segment(List<JsonNode> trace, String name) {
    return trace.stream()
        .filter(segment -> segment.path("name").asText().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> operations(JsonNode segment) {
    List<String> operations = new ArrayList<>();
    segment
        .path("subsegments")
        .forEach(request -> operations.add(request.at("/aws/operation").asText()));
    return operations;
  }
}
