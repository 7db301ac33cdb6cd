package dev.tollgate.cli.logs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Pace;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads the log groups of functions with {@code FilterLogEvents} of CloudWatch Logs, page by page,
 * and merges them. A throttled request is repeated after one second, then two, four, and so on.
 */
final class LogGroups {
  private static final int MAX_ATTEMPTS = 6;
  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);
  private static final Map<String, String> HEADERS =
      Map.of(
          "Content-Type", "application/x-amz-json-1.1",
          "X-Amz-Target", "Logs_20140328.FilterLogEvents");

  /** Functions of silo tenants write to the log group of another function. */
  private static final Pattern SILO = Pattern.compile("silo_[a-z0-9-]+");

  private final Sender api;
  private final Pace pace;
  private final Shell shell;

  /**
   * Log groups behind an API.
   *
   * @param perSecond the number of requests per second, above 0
   */
  LogGroups(Sender api, double perSecond, Shell shell) {
    this.api = api;
    this.pace = new Pace(perSecond, shell.nanoTime());
    this.shell = shell;
  }

  /**
   * Passes events to a consumer, the oldest first.
   *
   * @param groups the log groups, by the names of the functions
   * @param pattern the filter pattern; empty for all events
   * @throws Failure if a request is refused, or still throttled after half a minute
   */
  void read(Map<String, String> groups, Instant from, String pattern, Consumer<LogEvent> consumer) {
    Comparator<Group> byTime = Comparator.comparing(group -> group.events.getFirst().time());
    PriorityQueue<Group> heads = new PriorityQueue<>(byTime.thenComparing(group -> group.function));
    groups.forEach(
        (function, name) -> {
          Group group = new Group(function, name, from, pattern);
          if (group.hasNext()) {
            heads.add(group);
          }
        });
    for (Group first = heads.poll(); first != null; first = heads.poll()) {
      consumer.accept(first.events.removeFirst());
      if (first.hasNext()) {
        heads.add(first);
      }
    }
  }

  /** The events of one group, of which one page is in memory. */
  private final class Group {
    private final String function;
    private final ObjectNode request;
    private final Deque<LogEvent> events = new ArrayDeque<>();
    private boolean complete;

    private Group(String function, String name, Instant from, String pattern) {
      this.function = function;
      request = Json.object().put("logGroupName", name).put("startTime", from.toEpochMilli());
      if (!pattern.isEmpty()) {
        request.put("filterPattern", pattern);
      }
    }

    /** Whether there is another event. A page may be empty although others follow. */
    private boolean hasNext() {
      while (events.isEmpty() && !complete) {
        JsonNode page = send(request);
        page.path("events").forEach(event -> events.add(event(event)));
        Optional<String> next = Json.text(page, "nextToken");
        next.ifPresent(token -> request.put("nextToken", token));
        complete = next.isEmpty();
      }
      return !events.isEmpty();
    }

    private LogEvent event(JsonNode event) {
      Matcher silo = SILO.matcher(event.path("logStreamName").asText());
      return new LogEvent(
          event.path("eventId").asText(),
          Instant.ofEpochMilli(event.path("timestamp").asLong()),
          silo.find() ? silo.group() : function,
          event.path("message").asText());
    }
  }

  private JsonNode send(ObjectNode request) {
    Duration backOff = FIRST_WAIT;
    for (int attempt = 1; ; attempt++, backOff = backOff.multipliedBy(2)) {
      Duration wait = pace.next();
      if (!wait.isZero()) {
        shell.sleep(wait);
      }
      Response response = api.send("POST", "/", Optional.of(request), HEADERS);
      if (response.succeeded()) {
        return response.json();
      }
      String type = Json.text(response.json(), "__type").orElse("").replaceFirst(".*#", "");
      boolean temporary = type.equals("ThrottlingException") || response.status() >= 500;
      if (!temporary || attempt == MAX_ATTEMPTS) {
        throw failure(request, type, response);
      }
      pace.delay(backOff);
    }
  }

  private static Failure failure(JsonNode request, String type, Response response) {
    return Failure.of(
        "Cannot read log group %s: %s %s: %s"
            .formatted(
                request.path("logGroupName").asText(),
                response.status(),
                type,
                Json.text(response.json(), "message")
                    .or(() -> Json.text(response.json(), "Message"))
                    .orElse("")));
  }
}
