package dev.tollgate.cli.logs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Json;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A log event as the command shows it. Text that could be a session id is hidden.
 *
 * @param what what happened, in one line
 * @param tenantId the tenant that a metric line names; empty for other lines
 * @param fields the metrics and properties of a metric line, or the member {@code message} with the
 *     whole text of another line
 */
record LogLine(
    LogEvent event, Level level, String what, Optional<String> tenantId, ObjectNode fields) {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX").withZone(ZoneOffset.UTC);

  /** Anything that could be a session id. The functions hide the same. */
  private static final Pattern SECRET = Pattern.compile("[0-9A-Fa-f]{32,}");

  /** Lines that Lambda itself writes about each invocation. */
  private static final Pattern OF_LAMBDA =
      Pattern.compile("(START|END|REPORT) RequestId: .*|(INIT|RESTORE)_(START|REPORT) .*");

  /**
   * How functions name a tenant in text: {@code tenant acme}, {@code bucket connect_acme}, {@code a
   * session of acme: …}.
   */
  private static final String NAMED = "(\\btenant[ =]|[a-z]_)%1$s(?![a-z0-9-])|\\b(of|for) %1$s:";

  private static final Map<String, String> UNITS = Map.of("Milliseconds", " ms");
  private static final String METRICS = "_aws";
  private static final String OUTCOME = "Outcome";
  private static final String TENANT = "tenantId";

  /** The line of an event; empty if Lambda wrote it about an invocation that did not fail. */
  static Optional<LogLine> of(LogEvent event) {
    String original = event.message().strip();
    String message = hidden(original);
    List<String> lines = message.lines().toList();
    if (lines.isEmpty() || OF_LAMBDA.matcher(lines.get(0)).matches()) {
      return Optional.empty();
    }
    return Optional.of(
        metricLine(original)
            .map(line -> ofMetrics(event, hidden(line)))
            .orElseGet(() -> ofText(event, message, lines)));
  }

  private static String hidden(String text) {
    return SECRET.matcher(text).replaceAll("[hidden]");
  }

  /** Hides in all properties but the tenant's id, which may look like a session's. */
  private static ObjectNode hidden(ObjectNode line) {
    line.properties().stream()
        .filter(each -> each.getValue().isTextual() && !each.getKey().equals(TENANT))
        .forEach(each -> each.setValue(TextNode.valueOf(hidden(each.getValue().asText()))));
    return line;
  }

  private static Optional<ObjectNode> metricLine(String message) {
    return Optional.of(message)
        .filter(text -> text.startsWith("{"))
        .flatMap(Json::parse)
        .filter(line -> line.path(METRICS).has("CloudWatchMetrics"))
        .map(ObjectNode.class::cast);
  }

  private static LogLine ofText(LogEvent event, String message, List<String> lines) {
    String more = lines.size() == 1 ? "" : " [%d more lines]".formatted(lines.size() - 1);
    return new LogLine(
        event,
        Level.of(message),
        lines.get(0) + more,
        Optional.empty(),
        Json.object().put("message", message));
  }

  private static LogLine ofMetrics(LogEvent event, ObjectNode line) {
    Map<String, String> units = new LinkedHashMap<>();
    line.at("/_aws/CloudWatchMetrics/0/Metrics")
        .forEach(
            metric ->
                units.put(
                    metric.path("Name").asText(),
                    UNITS.getOrDefault(metric.path("Unit").asText(), "")));
    List<String> words = new ArrayList<>(List.of(decision(line, units)));
    line.properties().stream()
        .filter(each -> !units.containsKey(each.getKey()))
        .filter(each -> !List.of(METRICS, OUTCOME).contains(each.getKey()))
        .forEach(each -> words.add(property(each.getKey(), each.getValue())));
    ObjectNode fields = line.deepCopy();
    fields.remove(METRICS);
    return new LogLine(
        event, Level.of(line), String.join(" ", words), Json.text(line, TENANT), fields);
  }

  private static String decision(JsonNode line, Map<String, String> units) {
    String outcome = line.path(OUTCOME).asText();
    if (line.has("Connections")) {
      return outcome.equals("ADMITTED")
          ? "handshake admitted"
          : "handshake %s: %s"
              .formatted(
                  outcome.startsWith("ADMITTED") || outcome.equals("WOULD_REFUSE")
                      ? "admitted"
                      : "refused",
                  outcome);
    }
    if (line.has("Messages")) {
      int count = line.path("Messages").asInt();
      return "%d %s: %s".formatted(count, count == 1 ? "message" : "messages", outcome);
    }
    return String.join(
        ", ",
        units.entrySet().stream()
            .map(
                unit ->
                    "%s %s%s"
                        .formatted(
                            unit.getKey(), Json.text(line.path(unit.getKey())), unit.getValue()))
            .toList());
  }

  private static String property(String name, JsonNode value) {
    String text = Json.text(value);
    String shown = text.matches("[^\\s\"]+") ? text : Json.write(TextNode.valueOf(text));
    return (name.equals(TENANT) ? "tenant" : name) + "=" + shown;
  }

  /**
   * Whether the line is about a tenant: a metric line with its id, or other text that names it as
   * the functions do. A word of free text is no name.
   */
  boolean isAbout(String tenant) {
    return tenantId.isPresent()
        ? tenantId.get().equals(tenant)
        : Pattern.compile(NAMED.formatted(Pattern.quote(tenant))).matcher(event.message()).find();
  }

  /**
   * The line for a person.
   *
   * @param width how many columns the name of the function takes
   */
  String text(int width) {
    String name = event.function();
    return "%s  %s  %s%s"
        .formatted(
            TIME.format(event.time()),
            name + " ".repeat(Math.max(0, width - name.length())),
            level == Level.INFO ? "" : level + " ",
            what);
  }

  /** The line for a program. */
  ObjectNode document() {
    ObjectNode document =
        Json.object()
            .put("time", TIME.format(event.time()))
            .put("function", event.function())
            .put("level", level.name())
            .put("what", what);
    document.setAll(fields);
    return document;
  }
}
