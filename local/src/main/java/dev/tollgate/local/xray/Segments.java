package dev.tollgate.local.xray;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The newest segments of all traces, as documents. Thread-safe.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/xray/latest/devguide/xray-api-segmentdocuments.html">X-Ray
 *     segment documents</a>
 */
final class Segments {
  private static final int MOST = 4_000;
  private static final Pattern TRACE_ID = Pattern.compile("1-[0-9a-f]{8}-[0-9a-f]{24}");
  private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

  private final Deque<JsonNode> newest = new ArrayDeque<>();

  /**
   * Adds a segment, and drops the oldest one if there are too many.
   *
   * @throws IllegalArgumentException if X-Ray would refuse the document; the message says why
   */
  void add(String document) {
    JsonNode segment;
    try {
      segment = Json.readStrictly(document);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("not JSON: " + e.getOriginalMessage(), e);
    }
    require(!segment.path("name").asText().isEmpty(), segment, "name");
    require(ID.matcher(segment.path("id").asText()).matches(), segment, "id");
    require(TRACE_ID.matcher(segment.path("trace_id").asText()).matches(), segment, "trace_id");
    require(segment.path("start_time").isNumber(), segment, "start_time");
    require(
        segment.path("end_time").isNumber() != segment.path("in_progress").asBoolean(),
        segment,
        "end_time");
    synchronized (this) {
      newest.addLast(segment);
      if (newest.size() > MOST) {
        newest.removeFirst();
      }
    }
  }

  /** The segments of each trace, by its id; in the order of their arrival. */
  synchronized Map<String, List<JsonNode>> byTrace() {
    Map<String, List<JsonNode>> traces = new LinkedHashMap<>();
    for (JsonNode segment : newest) {
      traces
          .computeIfAbsent(segment.path("trace_id").asText(), any -> new ArrayList<>())
          .add(segment);
    }
    return traces;
  }

  private static void require(boolean valid, JsonNode segment, String member) {
    if (!valid) {
      throw new IllegalArgumentException(member + ": " + segment.path(member));
    }
  }
}
