package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces of handshakes and messages, from the functions to X-Ray. */
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

  /** Waits for the segments of the only trace that the filter finds. */
  private static List<JsonNode> onlyTrace(String filter, int segments) throws Exception {
    Instant until = Instant.now().plus(PATIENCE);
    while (true) {
      List<String> ids = ids(filter);
      if (ids.size() == 1) {
        JsonNode trace =
            xray("/Traces", "{\"TraceIds\":[\"" + ids.get(0) + "\"]}").at("/Traces/0/Segments");
        if (trace.size() >= segments || Instant.now().isAfter(until)) {
          assertThat(trace).hasSize(segments);
          List<JsonNode> documents = new ArrayList<>();
          for (JsonNode segment : trace) {
            documents.add(JSON.readTree(segment.path("Document").asText()));
          }
          return documents;
        }
      }
      assertThat(Instant.now()).as("traces %s of %s", ids, filter).isBefore(until);
      Thread.sleep(20);
    }
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
