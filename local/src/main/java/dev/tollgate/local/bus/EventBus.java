package dev.tollgate.local.bus;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;

/**
 * The account's default bus. It has no rules: each event is a line of the log, and the newest ones
 * are kept. {@code PutEvents} is the only operation.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html">PutEvents</a>
 */
public final class EventBus implements HttpHandler {
  private static final int MOST_ENTRIES = 10;
  private static final int LARGEST_REQUEST = 1024 * 1024;
  private static final int KEPT = 1_000;

  private final Consumer<String> log;
  private final Deque<Event> events = new ArrayDeque<>();

  /**
   * An event.
   *
   * @param detail a JSON object
   */
  public record Event(String id, String source, String detailType, String detail) {}

  /**
   * A bus without events.
   *
   * @param log receives a line for each event
   */
  public EventBus(Consumer<String> log) {
    this.log = log;
  }

  /** The newest events, oldest first; 1,000 at most. */
  public synchronized List<Event> events() {
    return List.copyOf(events);
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    if (!call.operation().equals("PutEvents")) {
      throw new ApiException(400, "UnknownOperationException", "");
    }
    ObjectNode answer = put(call.body());
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.1");
    exchange.getResponseSender().send(answer.toString());
  }

  ObjectNode put(String body) {
    if (body.getBytes(StandardCharsets.UTF_8).length > LARGEST_REQUEST) {
      throw new ApiException(400, "ValidationException", "Total size of the entries is too large");
    }
    JsonNode entries = Json.readObject(body).path("Entries");
    if (!entries.isArray() || entries.isEmpty() || entries.size() > MOST_ENTRIES) {
      throw new ApiException(
          400, "ValidationException", "Entries: " + entries.size() + " (expected: 1 to 10)");
    }
    ObjectNode answer = Json.object();
    ArrayNode results = answer.putArray("Entries");
    int failed = 0;
    for (JsonNode entry : entries) {
      ObjectNode result = put(entry);
      failed += result.has("ErrorCode") ? 1 : 0;
      results.add(result);
    }
    return answer.put("FailedEntryCount", failed);
  }

  private ObjectNode put(JsonNode entry) {
    String source = entry.path("Source").asText();
    String type = entry.path("DetailType").asText();
    String detail = entry.path("Detail").asText();
    if (source.isEmpty() || type.isEmpty()) {
      return Json.object()
          .put("ErrorCode", "InvalidArgument")
          .put(
              "ErrorMessage",
              "Parameter Source or DetailType is not valid. Reason: not specified.");
    }
    if (!Json.readOrMissing(detail).isObject()) {
      return Json.object()
          .put("ErrorCode", "MalformedDetail")
          .put("ErrorMessage", "Detail is malformed.");
    }
    String bus = entry.path("EventBusName").asText("default");
    if (!bus.equals("default") && !bus.endsWith(":event-bus/default")) {
      throw new ApiException(
          400, "ResourceNotFoundException", "Event bus " + bus + " does not exist.");
    }
    Event event = new Event(UUID.randomUUID().toString(), source, type, detail);
    keep(event);
    log.accept("event of " + source + ": " + type + " " + detail);
    return Json.object().put("EventId", event.id());
  }

  private synchronized void keep(Event event) {
    events.addLast(event);
    if (events.size() > KEPT) {
      events.removeFirst();
    }
  }
}
