package dev.tollgate.local.logs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.LogLine;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FunctionLogsTest {
  private final FunctionLogs logs =
      new FunctionLogs(
          () -> Map.of("Authorizer", "group", "silo_acme", "group", "Quiet", "q"), 450);

  private void add(long millis, String function, String message) {
    logs.add(new LogLine(Instant.ofEpochMilli(millis), function, "request", message));
  }

  private static ObjectNode request(String group) {
    return Json.object().put("logGroupName", group);
  }

  private static List<String> messages(JsonNode answer) {
    return answer.path("events").findValuesAsText("message");
  }

  @Test
  void events_of_a_group_are_sorted_by_time_and_paged() {
    add(30, "Authorizer", "third");
    add(10, "silo_acme", "one");
    add(10, "Authorizer", "two");
    add(20, "Other", "x");

    JsonNode first = logs.filter(request("group").put("limit", 2));
    JsonNode second =
        logs.filter(
            request("group").put("limit", 2).put("nextToken", first.path("nextToken").asText()));

    assertThat(messages(first)).containsExactly("one", "two");
    assertThat(first.at("/events/0"))
        .hasToString(
            "{\"eventId\":\"2\",\"ingestionTime\":10,\"logStreamName\":\"silo_acme\","
                + "\"message\":\"one\",\"timestamp\":10}");
    assertThat(messages(second)).containsExactly("third");
    assertThat(second.has("nextToken")).isFalse();
  }

  @Test
  void start_and_end_are_inclusive() {
    for (int millis = 1; millis <= 4; millis++) {
      add(millis, "Authorizer", "m" + millis);
    }

    assertThat(messages(logs.filter(request("group").put("startTime", 2).put("endTime", 3))))
        .containsExactly("m2", "m3");
  }

  @ParameterizedTest
  @CsvSource({"%acm|FAIL%, acme", "%b.t%, bet", "'', acme bet"})
  void a_pattern_selects_events(String pattern, String messages) {
    add(1, "Authorizer", "acme");
    add(2, "Authorizer", "bet");

    assertThat(messages(logs.filter(request("group").put("filterPattern", pattern))))
        .containsExactly(messages.split(" ", -1));
  }

  @ParameterizedTest
  @CsvSource({
    "filterPattern, acme",
    "filterPattern, %a(b)%",
    "filterPattern, %[%",
    "logStreamNames, x"
  })
  void what_is_not_supported_is_refused(String member, String value) {
    assertThatThrownBy(() -> logs.filter(request("group").put(member, value)))
        .isInstanceOf(ApiException.class)
        .hasMessageStartingWith(member + ": ");
  }

  @Test
  void the_oldest_events_are_dropped() {
    add(1, "Authorizer", "0123456789");
    add(2, "Authorizer", "0".repeat(240));
    assertThat(messages(logs.filter(request("group")))).hasSize(2);

    add(3, "Authorizer", "");
    add(4, "Authorizer", "ab");

    assertThat(messages(logs.filter(request("group")))).containsExactly("", "ab");
  }

  @Test
  void a_group_exists_if_a_function_has_it() {
    add(1, "Removed", "bye");

    assertThat(messages(logs.filter(request("q")))).isEmpty();
    assertThat(messages(logs.filter(request("/aws/lambda/Removed")))).containsExactly("bye");
    assertThatThrownBy(() -> logs.filter(request("nosuch")))
        .hasMessage("The specified log group does not exist.");
  }
}
