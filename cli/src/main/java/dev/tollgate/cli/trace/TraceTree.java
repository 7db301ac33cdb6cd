package dev.tollgate.cli.trace;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/** The segments of a trace, each below its parent, with their AWS requests. */
final class TraceTree {
  private static final String SEGMENTS = "segments";

  private TraceTree() {}

  /**
   * The tree as a document. Times are in milliseconds: {@code startMs} since the first segment
   * began, and {@code durationMs}, which is missing for what had not ended.
   *
   * @param segments not empty
   */
  static ObjectNode document(String id, List<JsonNode> segments) {
    List<JsonNode> all = segments.stream().flatMap(TraceTree::withParts).toList();
    BigDecimal start =
        all.stream().map(each -> time(each, "start_time")).min(BigDecimal::compareTo).orElseThrow();
    Map<String, List<JsonNode>> children = new HashMap<>();
    List<String> known = all.stream().map(each -> each.path("id").asText()).toList();
    for (JsonNode each : all) {
      String parent = each.path("parent_id").asText();
      children
          .computeIfAbsent(known.contains(parent) ? parent : "", any -> new ArrayList<>())
          .add(each);
    }
    ObjectNode document = Json.object().put("traceId", id);
    add(document.putArray(SEGMENTS), "", children, start);
    return document;
  }

  /** A segment and its subsegments, each of which names its parent. */
  private static Stream<JsonNode> withParts(JsonNode segment) {
    return Stream.concat(
        Stream.of(segment),
        segment
            .path("subsegments")
            .valueStream()
            .map(
                part ->
                    ((ObjectNode) part.deepCopy()).put("parent_id", segment.path("id").asText()))
            .flatMap(TraceTree::withParts));
  }

  private static void add(
      ArrayNode to, String parent, Map<String, List<JsonNode>> children, BigDecimal start) {
    List<JsonNode> next = new ArrayList<>(children.getOrDefault(parent, List.of()));
    next.sort(Comparator.comparing(each -> time(each, "start_time")));
    for (JsonNode each : next) {
      BigDecimal begin = time(each, "start_time");
      ObjectNode node = to.addObject().put("name", each.path("name").asText());
      node.put("startMs", millis(begin.subtract(start)));
      if (each.has("end_time")) {
        node.put("durationMs", millis(time(each, "end_time").subtract(begin)));
      }
      Json.text(each.path("aws"), "operation").ifPresent(name -> node.put("operation", name));
      JsonNode status = each.at("/http/response/status");
      if (status.isInt()) {
        node.put("status", status.asInt());
      }
      Json.text(each.path("annotations"), "outcome").ifPresent(name -> node.put("outcome", name));
      for (String flag : List.of("error", "throttle", "fault")) {
        if (each.path(flag).asBoolean()) {
          node.put(flag, true);
        }
      }
      add(node.putArray(SEGMENTS), each.path("id").asText(), children, start);
      if (node.path(SEGMENTS).isEmpty()) {
        node.remove(SEGMENTS);
      }
    }
  }

  /** The tree as lines, with a heading. */
  static List<String> lines(JsonNode document) {
    List<String> lines = new ArrayList<>();
    lines.add("Trace " + document.path("traceId").asText());
    lines.add("   START ms    TOOK ms");
    addLines(lines, document, 0);
    return lines;
  }

  private static void addLines(List<String> lines, JsonNode parent, int depth) {
    for (JsonNode node : parent.path(SEGMENTS)) {
      StringBuilder text = new StringBuilder(node.path("name").asText());
      for (String field : List.of("operation", "status", "outcome")) {
        if (node.has(field)) {
          text.append(' ').append(node.path(field).asText());
        }
      }
      if (node.path("fault").asBoolean()) {
        text.append(" FAULT");
      }
      String took =
          node.has("durationMs")
              ? String.format(Locale.ROOT, "%.1f", node.path("durationMs").asDouble())
              : "-";
      lines.add(
          String.format(
              Locale.ROOT,
              "%11.1f%11s  %s%s",
              node.path("startMs").asDouble(),
              took,
              "  ".repeat(depth),
              text));
      addLines(lines, node, depth + 1);
    }
  }

  private static BigDecimal time(JsonNode segment, String member) {
    return segment.path(member).decimalValue();
  }

  private static BigDecimal millis(BigDecimal seconds) {
    return seconds.movePointRight(3).setScale(1, RoundingMode.HALF_UP);
  }
}
