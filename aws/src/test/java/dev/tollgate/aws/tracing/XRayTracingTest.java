package dev.tollgate.aws.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.tracing.Segment;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Segments as documents. {@link #check} holds each of them to AWS's description of segment
 * documents.
 */
class XRayTracingTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String TRACE = "1-5759e988-bd862e3fe1be46a994272793";
  private static final String HEADER = "Root=" + TRACE + ";Parent=53995c3f42cd8ad8;Sampled=1";
  private static final Instant START = Instant.parse("2026-03-12T14:00:00.000001Z");

  private final ManualClock clock = new ManualClock(START);
  private final List<String> sent = new ArrayList<>();
  private final AtomicLong ids = new AtomicLong(0x0123456789abcdefL);
  private final XRayTracing tracing =
      new XRayTracing(document -> sent.add(document), clock, ids::incrementAndGet);

  private JsonNode only() throws Exception {
    assertThat(sent).hasSize(1);
    JsonNode document = JSON.readTree(sent.get(0));
    check(document);
    return document;
  }

  /**
   * See <a
   * href="https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html">X-Ray
   * segment documents</a>.
   */
  private static void check(JsonNode segment) {
    assertThat(segment.path("name").asText()).matches("[\\p{L}\\p{N}\\s_.:/%&#=+\\\\\\-@]{1,200}");
    assertThat(segment.path("id").asText()).matches("[0-9a-f]{16}");
    assertThat(segment.path("start_time").isNumber()).isTrue();
    assertThat(segment.path("end_time").isNumber())
        .isNotEqualTo(segment.path("in_progress").asBoolean());
    if (segment.has("end_time")) {
      assertThat(segment.path("end_time").decimalValue())
          .isGreaterThanOrEqualTo(segment.path("start_time").decimalValue());
    }
    segment
        .path("annotations")
        .properties()
        .forEach(
            annotation -> {
              assertThat(annotation.getKey()).matches("[A-Za-z0-9_]{1,500}");
              assertThat(annotation.getValue().asText()).hasSizeLessThanOrEqualTo(1_000);
            });
    Set<String> ids = new HashSet<>(Set.of(segment.path("id").asText()));
    for (JsonNode part : segment.path("subsegments")) {
      check(part);
      assertThat(ids.add(part.path("id").asText())).as("%s is unique", part).isTrue();
    }
    if (segment.has("trace_id")) {
      assertThat(segment.path("trace_id").asText()).matches("1-[0-9a-f]{8}-[0-9a-f]{24}");
      assertThat(segment.path("parent_id").asText()).matches("[0-9a-f]{16}");
      assertThat(segment.toString().getBytes(StandardCharsets.UTF_8).length).isLessThan(64 * 1_024);
    }
  }

  private RequestSubsegment request(String operation) {
    RequestSubsegment request =
        new RequestSubsegment("DynamoDb", operation, tracing.newId(), tracing.now());
    tracing.recording().forEach(segment -> segment.add(request));
    return request;
  }

  @Test
  void a_segment_has_ids_times_annotations_and_its_requests() throws Exception {
    Segment segment = tracing.begin("Authorizer", () -> HEADER);
    segment.annotate("tenantId", "acme");
    clock.advance(Duration.ofMillis(5));
    RequestSubsegment read = request("BatchGetItem");
    clock.advance(Duration.ofMillis(7));
    read.end(tracing.now(), OptionalInt.of(200), false);
    segment.outcome("ALLOWED", 200);
    String header = segment.header();
    clock.advance(Duration.ofMillis(1));
    assertThat(sent).isEmpty();
    segment.close();
    segment.close();

    JsonNode document = only();

    assertThat(document)
        .isEqualTo(
            JSON.readTree(
                """
                {"name": "Authorizer", "id": "0123456789abcdf0", "trace_id": "%s",
                 "parent_id": "53995c3f42cd8ad8",
                 "start_time": 1773324000.000001, "end_time": 1773324000.013001,
                 "annotations": {"tenantId": "acme", "outcome": "ALLOWED"},
                 "subsegments": [
                   {"name": "DynamoDb", "id": "0123456789abcdf1", "start_time": 1773324000.005001,
                    "end_time": 1773324000.012001, "http": {"response": {"status": 200}},
                    "namespace": "aws", "aws": {"operation": "BatchGetItem"}}]}
                """
                    .formatted(TRACE)));
    assertThat(header).isEqualTo("Root=" + TRACE + ";Parent=0123456789abcdf0;Sampled=1");
  }

  @ParameterizedTest
  @CsvSource({
    "200, false, false, false",
    "403, true, false, false",
    "429, true, true, false",
    "503, false, false, true"
  })
  void an_outcome_is_an_error_a_throttle_or_a_fault(
      int status, boolean error, boolean throttle, boolean fault) throws Exception {
    try (Segment segment = tracing.begin("Connect", () -> HEADER)) {
      segment.outcome("OUTCOME", status);
      request("UpdateItem").end(tracing.now(), OptionalInt.of(status), false);
    }

    for (JsonNode each : List.of(only(), only().at("/subsegments/0"))) {
      assertThat(each.path("error").asBoolean()).isEqualTo(error);
      assertThat(each.path("throttle").asBoolean()).isEqualTo(throttle);
      assertThat(each.path("fault").asBoolean()).isEqualTo(fault);
    }
  }

  @Test
  void work_that_throws_is_a_fault() throws Exception {
    assertThatThrownBy(
            () -> {
              try (Segment segment = tracing.begin("Connect", () -> HEADER)) {
                segment.annotate("tenantId", "acme");
                throw new IllegalStateException("down");
              }
            })
        .hasMessage("down");

    assertThat(only().path("fault").asBoolean()).isTrue();
  }

  @Test
  void a_request_without_response_is_a_fault_and_a_throttled_one_is_throttled() throws Exception {
    try (Segment segment = tracing.begin("Connect", () -> HEADER)) {
      request("UpdateItem").end(tracing.now(), OptionalInt.empty(), false);
      request("UpdateItem").end(tracing.now(), OptionalInt.of(400), true);
      segment.outcome("ADMITTED", 200);
    }

    assertThat(only().at("/subsegments/0/fault").asBoolean()).isTrue();
    assertThat(only().at("/subsegments/0/http").isMissingNode()).isTrue();
    assertThat(only().at("/subsegments/1/throttle").asBoolean()).isTrue();
  }

  @Test
  void a_request_that_continues_after_the_answer_is_in_progress() throws Exception {
    RequestSubsegment late;
    try (Segment segment = tracing.begin("Authorizer", () -> HEADER)) {
      late = request("ChangeMessageVisibility");
      segment.outcome("ALLOWED", 200);
    }
    late.end(tracing.now(), OptionalInt.of(200), false);

    assertThat(only().at("/subsegments/0/in_progress").asBoolean()).isTrue();
    assertThat(tracing.recording()).isEmpty();
  }

  @Test
  void a_task_that_outlives_its_invocation_is_in_no_trace_of_the_next() throws Exception {
    Queue<Runnable> submitted = new ArrayDeque<>();
    Executor requests = tracing.bound(submitted::add);
    try (Segment acme = tracing.begin("MessageProcessor", () -> HEADER)) {
      requests.execute(
          () -> {
            request("PostToConnection");
            requests.execute(() -> request("DeleteItem"));
          });
      requests.execute(() -> request("UpdateItem"));
      submitted.remove().run();
      acme.outcome("FAILED", 500);
    }

    try (Segment beta = tracing.begin("MessageProcessor", () -> HEADER.replace("e988", "e989"))) {
      requests.execute(() -> request("GetItem"));
      submitted.forEach(Runnable::run);
      request("Query");
      beta.outcome("PROCESSED", 200);
    }

    assertThat(operations(sent.get(0))).containsExactly("PostToConnection");
    assertThat(operations(sent.get(1))).containsExactly("GetItem", "Query");
  }

  @Test
  void a_task_of_an_invocation_that_is_not_sampled_is_in_no_trace_of_the_next() throws Exception {
    Queue<Runnable> submitted = new ArrayDeque<>();
    Executor requests = tracing.bound(submitted::add);
    requests.execute(() -> request("DeleteItem"));

    try (Segment beta = tracing.begin("MessageProcessor", () -> HEADER)) {
      submitted.forEach(Runnable::run);
      beta.outcome("PROCESSED", 200);
    }

    assertThat(operations(sent.get(0))).isEmpty();
  }

  private static List<String> operations(String document) throws Exception {
    return JSON.readTree(document).path("subsegments").findValuesAsText("operation");
  }

  @Test
  void several_segments_of_a_trace_record_requests_once_and_those_of_each_trace() throws Exception {
    String other = HEADER.replace("5759e988", "5759e989");
    List<Segment> batch =
        List.of(
            tracing.begin("MessageProcessor", () -> HEADER),
            tracing.begin("MessageProcessor", () -> other),
            tracing.begin("MessageProcessor", () -> HEADER),
            tracing.begin("MessageProcessor", () -> ""));
    request("BatchGetItem").end(tracing.now(), OptionalInt.of(200), false);
    batch.forEach(segment -> segment.outcome("PROCESSED", 200));
    batch.forEach(Segment::close);

    assertThat(sent).hasSize(3);
    List<Integer> requests = new ArrayList<>();
    for (String document : sent) {
      check(JSON.readTree(document));
      requests.add(JSON.readTree(document).path("subsegments").size());
    }
    assertThat(requests).containsExactly(1, 1, 0);
  }

  @Test
  void a_document_with_more_requests_than_it_holds_stays_below_the_limit() throws Exception {
    try (Segment segment = tracing.begin("Authorizer", () -> HEADER)) {
      for (int i = 0; i < 1_000; i++) {
        request("ChangeMessageVisibilityBatch").end(tracing.now(), OptionalInt.of(503), true);
      }
      segment.outcome("ALLOWED", 200);
    }

    assertThat(only().path("subsegments")).hasSize(OpenSegment.MAX_REQUESTS);
  }

  @Test
  void values_are_escaped() throws Exception {
    try (Segment segment = tracing.begin("Connect", () -> HEADER)) {
      segment.outcome("a\"b\\\n", 200);
    }

    assertThat(only().at("/annotations/outcome").asText()).isEqualTo("a\"b\\\n");
  }

  @Test
  void requests_of_many_threads_are_all_recorded() throws Exception {
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch begin = new CountDownLatch(1);
    try (Segment segment = tracing.begin("Authorizer", () -> HEADER)) {
      for (int i = 0; i < threads; i++) {
        pool.execute(
            () -> {
              try {
                begin.await();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
              for (int j = 0; j < 10; j++) {
                request("GetItem").end(tracing.now(), OptionalInt.of(200), false);
              }
            });
      }
      begin.countDown();
      pool.shutdown();
      assertThat(pool.awaitTermination(10, TimeUnit.SECONDS)).isTrue();
      segment.outcome("ALLOWED", 200);
    }

    assertThat(only().path("subsegments")).hasSize(80);
  }

  @Test
  void nothing_is_sent_for_a_trace_that_is_not_sampled() {
    Segment segment = tracing.begin("Authorizer", () -> HEADER.replace("Sampled=1", "Sampled=0"));
    segment.outcome("ALLOWED", 200);
    segment.close();

    assertThat(segment).isSameAs(Segment.NONE);
    assertThat(segment.header()).isEmpty();
    assertThat(tracing.recording()).isEmpty();
    assertThat(sent).isEmpty();
  }

  @Test
  void a_document_is_one_datagram_after_the_header_of_the_protocol() throws Exception {
    try (DatagramSocket daemon = new DatagramSocket(0, InetAddress.getLoopbackAddress())) {
      daemon.setSoTimeout(10_000);
      new XRayDaemon("127.0.0.1:" + daemon.getLocalPort()).accept("{\"name\":\"ä\"}");

      DatagramPacket packet = new DatagramPacket(new byte[1_000], 1_000);
      daemon.receive(packet);
      assertThat(new String(packet.getData(), 0, packet.getLength(), StandardCharsets.UTF_8))
          .isEqualTo("{\"format\": \"json\", \"version\": 1}\n{\"name\":\"ä\"}");
    }
  }

  @Test
  void a_document_that_cannot_be_sent_is_lost() {
    assertThatCode(() -> new XRayDaemon("127.0.0.1:1").accept("{}")).doesNotThrowAnyException();
    assertThatCode(() -> new XRayDaemon("127.0.0.1:1").accept("x".repeat(70_000)))
        .doesNotThrowAnyException();
    assertThatThrownBy(() -> new XRayDaemon("127.0.0.1"))
        .hasMessage("AWS_XRAY_DAEMON_ADDRESS: 127.0.0.1 (expected: HOST:PORT)");
  }

  @ParameterizedTest
  @CsvSource({"on, 127.0.0.1:2000, true", "off, 127.0.0.1:2000, false", "on, '', false"})
  void variables_switch_tracing_on(String mode, String daemon, boolean on) {
    Optional<XRayTracing> configured =
        XRayTracing.of(Map.of("TRACING", mode, "AWS_XRAY_DAEMON_ADDRESS", daemon), clock);

    assertThat(configured.isPresent()).isEqualTo(on);
    assertThat(XRayTracing.of(Map.of("AWS_XRAY_DAEMON_ADDRESS", "x:1"), clock)).isEmpty();
  }
}
