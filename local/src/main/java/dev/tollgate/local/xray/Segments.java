package dev.tollgate.local.xray;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.nio.charset.StandardCharsets;
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
  private static final int MOST_BYTES = 16 << 20;
  private static final Pattern TRACE_ID = Pattern.compile("1-[0-9a-f]{8}-[0-9a-f]{24}");
  private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

  private static final String PARTS = "subsegments";

  private final Deque<Kept> newest = new ArrayDeque<>();
  private int keptBytes;

  /**
   * A segment.
   *
   * @param members all members but the subsegments, because a tree of nodes takes many times the
   *     memory of its text
   * @param document the text with all members
   */
  record Kept(ObjectNode members, String document) {
    String traceId() {
      return members.path("trace_id").asText();
    }

    private int bytes() {
      return document.getBytes(StandardCharsets.UTF_8).length;
    }
  }

  /**
   * Adds a segment, and drops the oldest ones if there are too many or they are too large.
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
    require(EpochSeconds.isValid(segment.path("start_time")), segment, "start_time");
    require(
        segment.path("in_progress").asBoolean()
            ? !segment.has("end_time")
            : EpochSeconds.isValid(segment.path("end_time")),
        segment,
        "end_time");
    Kept kept = new Kept(((ObjectNode) segment).without(PARTS), document);
    synchronized (this) {
      newest.addLast(kept);
      keptBytes += kept.bytes();
      while (newest.size() > MOST || keptBytes > MOST_BYTES) {
        keptBytes -= newest.removeFirst().bytes();
      }
    }
  }

  /** The segments of each trace, by its id; in the order of their arrival. */
  synchronized Map<String, List<Kept>> byTrace() {
    Map<String, List<Kept>> traces = new LinkedHashMap<>();
    for (Kept segment : newest) {
      traces.computeIfAbsent(segment.traceId(), any -> new ArrayList<>()).add(segment);
    }
    return traces;
  }

  private static void require(boolean valid, JsonNode segment, String member) {
    if (!valid) {
      throw new IllegalArgumentException(member + ": " + segment.path(member));
    }
  }
}
