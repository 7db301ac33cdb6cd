package dev.tollgate.cli.trace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Reads traces from AWS X-Ray. */
final class Traces {
  /** A longer time frame may be refused. */
  private static final Duration TIME_FRAME = Duration.ofHours(6);

  private final Sender xray;

  Traces(Sender xray) {
    this.xray = xray;
  }

  /**
   * The ids of the newest traces with an annotation.
   *
   * @param value contains no quotation mark
   * @param from the earliest start of a trace
   * @param to the latest one
   * @throws Failure if a request is refused
   */
  List<String> find(String annotation, String value, Instant from, Instant to) {
    List<String> ids = new ArrayList<>();
    for (Instant end = to; ids.isEmpty() && end.isAfter(from); end = end.minus(TIME_FRAME)) {
      Instant start = end.minus(TIME_FRAME);
      ObjectNode request =
          Json.object()
              .put("StartTime", (start.isBefore(from) ? from : start).getEpochSecond())
              .put("EndTime", end.getEpochSecond())
              .put("FilterExpression", "annotation." + annotation + " = \"" + value + "\"");
      pages(
          "/TraceSummaries",
          request,
          page ->
              page.path("TraceSummaries").forEach(summary -> ids.add(summary.path("Id").asText())));
    }
    return ids;
  }

  /**
   * The segments of a trace.
   *
   * @throws Failure if a request is refused
   */
  List<JsonNode> segments(String id) {
    ObjectNode request = Json.object();
    ArrayNode ids = request.putArray("TraceIds");
    ids.add(id);
    List<JsonNode> segments = new ArrayList<>();
    pages(
        "/Traces",
        request,
        page ->
            page.path("Traces")
                .forEach(
                    trace ->
                        trace
                            .path("Segments")
                            .forEach(
                                segment ->
                                    segments.add(
                                        Json.read("segment", segment.path("Document").asText())))));
    return segments;
  }

  private void pages(String path, ObjectNode request, Consumer<JsonNode> consumer) {
    Optional<String> next;
    do {
      Response response = xray.send("POST", path, Optional.of(request), Map.of());
      if (!response.succeeded()) {
        throw Failure.of(
            "Cannot read traces from X-Ray: %s %s"
                .formatted(
                    response.status(),
                    Json.text(response.json(), "Message")
                        .or(() -> Json.text(response.json(), "message"))
                        .orElse("")));
      }
      JsonNode page = response.json();
      consumer.accept(page);
      next = Json.text(page, "NextToken").filter(token -> !token.isEmpty());
      next.ifPresent(token -> request.put("NextToken", token));
    } while (next.isPresent());
  }
}
