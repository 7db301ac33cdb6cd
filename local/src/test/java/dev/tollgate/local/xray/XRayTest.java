package dev.tollgate.local.xray;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.RestApi;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class XRayTest {
  private static final String HEADER = "{\"format\": \"json\", \"version\": 1}\n";
  private static final String TRACE = "1-00000064-bd862e3fe1be46a994272793";

  private final BlockingQueue<String> log = new LinkedBlockingQueue<>();
  private final XRay xray = new XRay(log::add);

  @AfterEach
  void close() {
    xray.close();
  }

  private static String segment(String trace, String id, String more) {
    return "{\"name\":\"n\",\"id\":\"%s\",\"trace_id\":\"%s\",\"start_time\":100.5,\"end_time\":101%s}"
        .formatted(id, trace, more);
  }

  private JsonNode call(String operation, ObjectNode body) {
    return xray.answer(operation, new RestApi.Request("", Map.of(), body)).body();
  }

  private static ObjectNode frame(long from, long to) {
    return Json.object().put("StartTime", from).put("EndTime", to);
  }

  private List<String> found(ObjectNode request) {
    List<String> ids = new ArrayList<>();
    call("GetTraceSummaries", request)
        .path("TraceSummaries")
        .forEach(summary -> ids.add(summary.path("Id").asText()));
    return ids;
  }

  @Test
  void a_trace_has_the_documents_of_its_segments() {
    String other = TRACE.replace("0064", "0065");
    String first = segment(TRACE, "0000000000000001", ",\"annotations\":{\"a\":\"x\"}");
    String second = segment(TRACE, "0000000000000002", ",\"fault\":true");
    xray.add(HEADER + first);
    xray.add(HEADER + segment(other, "0000000000000003", ""));
    xray.add(HEADER + second);

    ObjectNode request = Json.object();
    request.putArray("TraceIds").add(TRACE).add("1-00000000-000000000000000000000000");
    JsonNode answer = call("BatchGetTraces", request);

    assertThat(answer.path("Traces")).hasSize(1);
    assertThat(answer.at("/Traces/0/Duration").asDouble()).isEqualTo(0.5);
    assertThat(answer.at("/Traces/0/Segments").findValuesAsText("Document"))
        .containsExactly(first, second);
    assertThat(answer.path("UnprocessedTraceIds")).isEmpty();
    JsonNode summary = call("GetTraceSummaries", frame(0, 200)).at("/TraceSummaries/0");
    assertThat(summary.path("HasFault").asBoolean()).isTrue();
    assertThat(summary.path("HasError").asBoolean()).isFalse();
    assertThat(summary.at("/Annotations/a/0/AnnotationValue/StringValue").asText()).isEqualTo("x");
  }

  @Test
  void a_filter_and_the_time_of_their_ids_select_traces() {
    xray.add(HEADER + segment(TRACE, "0000000000000001", ",\"annotations\":{\"a\":\"x y\"}"));

    assertThat(found(frame(0, 200).put("FilterExpression", "annotation.a = \"x y\"")))
        .containsExactly(TRACE);
    assertThat(found(frame(0, 200).put("FilterExpression", "annotation.a=\"x\""))).isEmpty();
    assertThat(found(frame(0, 200).put("FilterExpression", "annotation.b = \"x y\""))).isEmpty();
    assertThat(found(frame(100, 100))).containsExactly(TRACE);
    assertThat(found(frame(101, 200))).isEmpty();
    assertThat(found(frame(0, 99))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "FilterExpression, service(\"a\")",
    "FilterExpression, annotation.a != \"x\"",
    "Sampling, true",
    "TimeRangeType, Event"
  })
  void what_is_not_supported_is_refused_by_its_name(String member, String value) {
    assertThatThrownBy(() -> found(frame(0, 200).put(member, value)))
        .isInstanceOfSatisfying(
            ApiException.class,
            refused -> assertThat(refused.text()).contains(member, "this local cloud"));
  }

  @Test
  void a_request_without_ids_or_times_is_refused() {
    assertThatThrownBy(() -> call("BatchGetTraces", Json.object()))
        .isInstanceOf(ApiException.class);
    assertThatThrownBy(() -> found(Json.object().put("StartTime", 1)))
        .isInstanceOf(ApiException.class);
    assertThatThrownBy(() -> call("PutTraceSegments", Json.object()))
        .isInstanceOf(ApiException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "[]",
        "{",
        "{\"name\":\"\",\"id\":\"0000000000000001\",\"trace_id\":\"1-00000064-bd862e3fe1be46a994272793\",\"start_time\":1,\"end_time\":2}",
        "{\"name\":\"n\",\"id\":\"1\",\"trace_id\":\"1-00000064-bd862e3fe1be46a994272793\",\"start_time\":1,\"end_time\":2}",
        "{\"name\":\"n\",\"id\":\"0000000000000001\",\"trace_id\":\"1-64-bd\",\"start_time\":1,\"end_time\":2}",
        "{\"name\":\"n\",\"id\":\"0000000000000001\",\"trace_id\":\"1-00000064-bd862e3fe1be46a994272793\",\"end_time\":2}",
        "{\"name\":\"n\",\"id\":\"0000000000000001\",\"trace_id\":\"1-00000064-bd862e3fe1be46a994272793\",\"start_time\":1}"
      })
  void a_malformed_document_is_refused(String document) {
    assertThatThrownBy(() -> xray.add(HEADER + document))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(found(frame(0, 200))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "1e999999999, 2",
    "1e-999999999, 2",
    "1e99999999999, 2",
    "-1, 2",
    "253402300800, 2",
    "1, 1e999999999",
    "1, -1E+2147483647",
    "1, true"
  })
  void a_document_of_another_time_is_refused(String start, String end) {
    String document = segment(TRACE, "0000000000000001", "");
    xray.add(HEADER + document);

    assertThatThrownBy(
            () -> xray.add(HEADER + document.replace("100.5", start).replace("101", end)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(found(frame(0, 200))).containsExactly(TRACE);
  }

  @ParameterizedTest
  @ValueSource(strings = {"1e999", "-1", "253402300800", "true"})
  void a_request_for_another_time_is_refused(String time) {
    ObjectNode request = Json.readObject("{\"StartTime\":0,\"EndTime\":%s}".formatted(time));

    assertThatThrownBy(() -> found(request)).isInstanceOf(ApiException.class);
  }

  @Test
  void of_large_segments_the_newest_16_megabytes_are_kept() {
    String large = ",\"subsegments\":[{\"name\":\"" + "x".repeat(60_000) + "\"}]";
    for (int i = 0; i < 400; i++) {
      String trace = "1-%08x-bd862e3fe1be46a994272793".formatted(i);
      xray.add(HEADER + segment(trace, "0000000000000001", large));
    }

    List<String> kept = found(frame(0, 5_000));
    assertThat(kept).hasSizeBetween(270, 280);
    assertThat(kept.get(kept.size() - 1)).startsWith("1-0000018f-");
  }

  @Test
  void a_datagram_needs_the_header_and_a_document_of_at_most_64_kilobytes() {
    String document = segment(TRACE, "0000000000000001", "");
    String large = segment(TRACE, "0000000000000001", ",\"x\":\"" + "x".repeat(65_500) + "\"");

    assertThatThrownBy(() -> xray.add(document)).hasMessageContaining("header: ");
    assertThatThrownBy(() -> xray.add(HEADER + large)).hasMessageContaining("bytes");
  }

  @Test
  void only_the_newest_segments_are_kept() {
    for (int i = 0; i <= 4_000; i++) {
      String trace = "1-%08x-bd862e3fe1be46a994272793".formatted(i);
      xray.add(HEADER + segment(trace, "0000000000000001", ""));
    }

    assertThat(found(frame(0, 5_000))).hasSize(4_000);
    assertThat(found(frame(0, 0))).isEmpty();
  }

  @Test
  void datagrams_arrive_and_refused_ones_are_logged() throws Exception {
    String address = xray.daemonAddress();
    assertThat(xray.daemonAddress()).isEqualTo(address);
    int port = Integer.parseInt(address.substring(address.indexOf(':') + 1));
    try (DatagramSocket socket = new DatagramSocket()) {
      for (String text :
          List.of(
              HEADER + segment(TRACE, "0000000000000001", ""),
              "nonsense\u001b\r" + "x".repeat(1_000))) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        socket.send(
            new DatagramPacket(bytes, bytes.length, InetAddress.getLoopbackAddress(), port));
      }
    }

    assertThat(log.poll(10, TimeUnit.SECONDS))
        .startsWith("X-Ray refused a segment: header: nonsense\\u001B\\rxxx")
        .endsWith("x…")
        .hasSizeLessThan(250);
    assertThat(found(frame(0, 200))).containsExactly(TRACE);
  }

  @Test
  void a_reader_finds_what_was_sent_before() throws Exception {
    String[] address = xray.daemonAddress().split(":", 2);
    InetSocketAddress daemon = new InetSocketAddress(address[0], Integer.parseInt(address[1]));
    try (DatagramSocket socket = new DatagramSocket()) {
      for (int i = 1; i <= 500; i++) {
        String trace = TRACE.replace("46a994272793", "%012x".formatted(i));
        byte[] bytes =
            (HEADER + segment(trace, "0000000000000001", "")).getBytes(StandardCharsets.UTF_8);
        socket.send(new DatagramPacket(bytes, bytes.length, daemon));

        ObjectNode request = Json.object();
        request.putArray("TraceIds").add(trace);
        assertThat(call("BatchGetTraces", request).path("Traces")).as("trace %d", i).hasSize(1);
      }
    }
    assertThat(log).isEmpty();
  }
}
