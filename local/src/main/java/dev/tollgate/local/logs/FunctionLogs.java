package dev.tollgate.local.logs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.LogLine;
import dev.tollgate.local.rest.Page;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * CloudWatch Logs: what functions have logged since the start, by their log groups. Only the newest
 * lines are kept. {@code FilterLogEvents} is the only operation.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html">FilterLogEvents</a>
 */
public final class FunctionLogs implements HttpHandler {
  private static final int LARGEST_PAGE = 10_000;
  private static final long LARGEST_SIZE = 10L << 20;

  /** What an event takes besides its message, about. */
  private static final int OVERHEAD = 100;

  private static final List<String> UNSUPPORTED =
      List.of("logGroupIdentifier", "logStreamNamePrefix", "logStreamNames");

  private final Supplier<Map<String, String>> logGroups;
  private final long largestSize;
  private final Deque<Event> events = new ArrayDeque<>();
  private long lastId;
  private long size;

  private record Event(long id, LogLine line) {
    private long millis() {
      return line.time().toEpochMilli();
    }

    private long size() {
      return OVERHEAD + line.message().length();
    }

    /** Sorts like time and id. */
    private String position() {
      return "%019d-%019d".formatted(millis(), id);
    }
  }

  /**
   * A log without lines.
   *
   * @param logGroups the log groups of the functions that exist, by the functions' names
   */
  public FunctionLogs(Supplier<Map<String, String>> logGroups) {
    this(logGroups, LARGEST_SIZE);
  }

  FunctionLogs(Supplier<Map<String, String>> logGroups, long largestSize) {
    this.logGroups = logGroups;
    this.largestSize = largestSize;
  }

  /** Adds a line, and drops the oldest lines if all together are too large. */
  public synchronized void add(LogLine line) {
    lastId++;
    Event added = new Event(lastId, line);
    events.addLast(added);
    size += added.size();
    while (size > largestSize) {
      size -= events.removeFirst().size();
    }
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    if (!call.operation().equals("FilterLogEvents")) {
      throw new ApiException(400, "UnknownOperationException", "");
    }
    ObjectNode answer = filter(Json.readObject(call.body()));
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.1");
    exchange.getResponseSender().send(answer.toString());
  }

  ObjectNode filter(ObjectNode request) {
    for (String name : UNSUPPORTED) {
      if (request.has(name)) {
        throw invalid(name, "(expected: none, this local cloud does not support it)");
      }
    }
    int limit = request.path("limit").asInt(LARGEST_PAGE);
    if (limit < 1 || limit > LARGEST_PAGE) {
      throw invalid("limit", limit + " (expected: 1 to " + LARGEST_PAGE + ")");
    }
    Pattern pattern = pattern(request.path("filterPattern").asText());
    long start = request.path("startTime").asLong(0);
    long end = request.path("endTime").asLong(Long.MAX_VALUE);
    Set<String> writers = writers(request.path("logGroupName").asText());
    Page<Event> page =
        Page.of(
            kept().stream()
                .filter(event -> writers.contains(event.line().function()))
                .filter(event -> event.millis() >= start && event.millis() <= end)
                .filter(event -> pattern.matcher(event.line().message()).find())
                .sorted(Comparator.comparing(Event::position)),
            Event::position,
            Optional.ofNullable(request.get("nextToken")).map(JsonNode::asText),
            limit);
    ObjectNode answer = Json.object();
    ArrayNode found = answer.putArray("events");
    page.items().forEach(event -> found.add(document(event)));
    answer.putArray("searchedLogStreams");
    page.next().ifPresent(next -> answer.put("nextToken", next));
    return answer;
  }

  /** A copy, so that functions do not wait for a reader. */
  private synchronized List<Event> kept() {
    return List.copyOf(events);
  }

  /** The functions that write to a log group. A removed function wrote to Lambda's default. */
  private Set<String> writers(String logGroup) {
    Map<String, String> groups = new HashMap<>();
    kept()
        .forEach(
            event -> groups.put(event.line().function(), "/aws/lambda/" + event.line().function()));
    groups.putAll(logGroups.get());
    groups.values().removeIf(group -> !group.equals(logGroup));
    if (groups.isEmpty()) {
      throw new ApiException(
          400, "ResourceNotFoundException", "The specified log group does not exist.");
    }
    return groups.keySet();
  }

  private static ObjectNode document(Event event) {
    return Json.object()
        .put("eventId", Long.toString(event.id()))
        .put("ingestionTime", event.millis())
        .put("logStreamName", event.line().function())
        .put("message", event.line().message())
        .put("timestamp", event.millis());
  }

  /** Of CloudWatch's patterns, a regular expression alone; an empty pattern finds everything. */
  private static Pattern pattern(String filter) {
    if (filter.isEmpty()) {
      return Pattern.compile("");
    }
    if (filter.matches("%[^%()]+%")) {
      try {
        return Pattern.compile(filter.substring(1, filter.length() - 1));
      } catch (PatternSyntaxException e) {
        throw invalid("filterPattern", filter + ": " + e.getDescription());
      }
    }
    throw invalid("filterPattern", filter + " (expected: %REGULAR-EXPRESSION%)");
  }

  private static ApiException invalid(String name, String problem) {
    return new ApiException(400, "InvalidParameterException", name + ": " + problem);
  }
}
