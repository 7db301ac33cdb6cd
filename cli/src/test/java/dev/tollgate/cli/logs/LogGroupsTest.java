package dev.tollgate.cli.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LogGroupsTest {
  private static final String THROTTLED =
      "{\"__type\":\"com.amazonaws.logs#ThrottlingException\",\"message\":\"Rate exceeded\"}";

  private final Map<String, Deque<Response>> pages =
      Map.of("group-a", new ArrayDeque<>(), "group-b", new ArrayDeque<>());
  private final List<String> requests = new ArrayList<>();
  private final List<Duration> waits = new ArrayList<>();
  private final AtomicLong nanos = new AtomicLong();
  private final Shell shell =
      new Shell(
          InputStream.nullInputStream(),
          new PrintWriter(new StringWriter()),
          new PrintWriter(new StringWriter()),
          Path.of(""),
          Optional.empty(),
          Map.of(),
          Optional.empty(),
          nanos::get,
          time -> {
            waits.add(time);
            nanos.addAndGet(time.toNanos());
          });

  private LogGroups logs(double perSecond) {
    return new LogGroups(this::send, perSecond, shell);
  }

  private Response send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    JsonNode request = body.orElseThrow();
    requests.add(request.toString());
    assertThat(method + " " + path).isEqualTo("POST /");
    assertThat(headers)
        .containsEntry("X-Amz-Target", "Logs_20140328.FilterLogEvents")
        .containsEntry("Content-Type", "application/x-amz-json-1.1");
    return pages.get(request.path("logGroupName").asText()).removeFirst();
  }

  private void answer(String group, int status, String body) {
    pages.get(group).add(new Response(status, HttpHeaders.of(Map.of(), (n, v) -> true), body));
  }

  /** A page with events at these milliseconds. */
  private void page(String group, String next, int... times) {
    List<String> events = new ArrayList<>();
    for (int time : times) {
      events.add(
          "{\"eventId\":\"%1$s%2$d\",\"timestamp\":%2$d,\"message\":\"m\",\"logStreamName\":\"s\"}"
              .formatted(group, time));
    }
    answer(
        group,
        200,
        "{\"events\":[%s]%s}"
            .formatted(
                String.join(",", events), next.isEmpty() ? "" : ",\"nextToken\":\"" + next + "\""));
  }

  private List<String> read(LogGroups logs, String pattern) {
    List<String> events = new ArrayList<>();
    logs.read(
        Map.of("A", "group-a", "B", "group-b"),
        Instant.ofEpochMilli(5),
        pattern,
        event -> events.add(event.function() + event.time().toEpochMilli()));
    return events;
  }

  @Test
  void pages_of_several_groups_are_merged_by_time() {
    page("group-a", "2", 10, 40);
    page("group-a", "3");
    page("group-a", "", 70);
    page("group-b", "2", 20, 40, 60);
    page("group-b", "", 80);

    assertThat(read(logs(1_000), ""))
        .containsExactly("A10", "B20", "A40", "B40", "B60", "A70", "B80");
    assertThat(requests)
        .contains(
            "{\"logGroupName\":\"group-a\",\"startTime\":5}",
            "{\"logGroupName\":\"group-a\",\"startTime\":5,\"nextToken\":\"2\"}",
            "{\"logGroupName\":\"group-a\",\"startTime\":5,\"nextToken\":\"3\"}")
        .hasSize(5);
  }

  @Test
  void a_page_is_read_only_when_the_events_before_it_are_printed() {
    page("group-a", "2", 10);
    page("group-a", "", 30);
    page("group-b", "", 20);
    List<Integer> requestsBefore = new ArrayList<>();

    logs(1_000)
        .read(
            Map.of("A", "group-a", "B", "group-b"),
            Instant.EPOCH,
            "",
            event -> requestsBefore.add(requests.size()));

    assertThat(requestsBefore).containsExactly(2, 3, 3);
  }

  @Test
  void the_filter_pattern_is_sent() {
    page("group-a", "");
    page("group-b", "");

    assertThat(read(logs(1_000), "%acme%")).isEmpty();
    assertThat(requests).allMatch(request -> request.contains("\"filterPattern\":\"%acme%\""));
  }

  @Test
  void requests_are_spaced_and_a_throttled_one_is_repeated_later() {
    page("group-a", "");
    answer("group-b", 400, THROTTLED);
    answer("group-b", 400, THROTTLED);
    page("group-b", "", 10);

    assertThat(read(logs(4), "")).containsExactly("B10");
    assertThat(waits)
        .contains(Duration.ofMillis(250), Duration.ofSeconds(1), Duration.ofSeconds(2));
  }

  @Test
  void a_request_that_stays_throttled_fails() {
    page("group-a", "");
    for (int i = 0; i < 6; i++) {
      answer("group-b", 400, THROTTLED);
    }

    assertThatThrownBy(() -> read(logs(1_000), ""))
        .isInstanceOf(Failure.class)
        .hasMessage("Cannot read log group group-b: 400 ThrottlingException: Rate exceeded");
  }

  @Test
  void a_refused_request_fails_at_once() {
    page("group-a", "");
    answer("group-b", 400, "{\"__type\":\"AccessDeniedException\",\"Message\":\"not you\"}");

    assertThatThrownBy(() -> read(logs(1_000), ""))
        .hasMessage("Cannot read log group group-b: 400 AccessDeniedException: not you");
  }

  @Test
  void the_function_of_a_silo_is_known_by_its_log_stream() {
    answer(
        "group-a",
        200,
        "{\"events\":[{\"eventId\":\"1\",\"timestamp\":9,\"message\":\"m\","
            + "\"logStreamName\":\"2026/03/12/blue_silo_acme[1]0f\"}]}");
    page("group-b", "");

    assertThat(read(logs(1_000), "")).containsExactly("silo_acme9");
  }
}
