package dev.tollgate.local.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests for metric data with extreme values. */
@Timeout(value = 20, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class MetricDataTest {
  private static final Instant START = Instant.parse("2026-03-12T12:00:00Z");

  private final CloudWatch cloudWatch =
      new CloudWatch(
          Environment.of("Tollgate", new ManualClock(START)), (queue, values) -> {}, line -> {});

  MetricDataTest() {
    cloudWatch.addDashboard(
        "screen",
        """
        {"widgets": [{"type": "metric", "properties": {"metrics": [
          ["N", "Sums", {"stat": "Sum"}], ["N", "Waits", {"stat": "p99"}]]}}]}
        """);
    for (String name : new String[] {"Sums", "Waits"}) {
      cloudWatch.metrics().record(new Metric("N", name, Map.of()), START, 7);
    }
  }

  @AfterEach
  void close() {
    cloudWatch.close();
  }

  private JsonNode result(String times, String period, String name, String statistic) {
    ObjectNode request =
        Json.readObject(
            """
            {%s, "MetricDataQueries": [{"Id": "a", "MetricStat": {
               "Metric": {"Namespace": "N", "MetricName": "%s"}, "Period": %s, "Stat": "%s"}}]}
            """
                .formatted(times, name, period, statistic));
    return cloudWatch.data(request).at("/MetricDataResults/0");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'StartTime': 0, 'EndTime': 1800000000",
        "'StartTime': 0, 'EndTime': 253402300799",
        "'StartTime': 1773316800, 'EndTime': 1773316860.5",
      },
      quoteCharacter = '"')
  void long_ranges_are_answered_at_once(String times) {
    JsonNode result = result(times.replace('\'', '"'), "60", "Sums", "Sum");

    assertThat(result.path("Values").toString()).isEqualTo("[7.0]");
    assertThat(result.path("Timestamps")).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'EndTime': 1800000000 | 60 | StartTime: ",
        "'StartTime': 0 | 60 | EndTime: ",
        "'StartTime': 0, 'EndTime': 31556889864403199 | 60 | EndTime: 31556889864403199",
        "'StartTime': 0, 'EndTime': 9000000000000000000 | 60 | EndTime: 9000000000000000000",
        "'StartTime': 0, 'EndTime': 1e400 | 60 | EndTime: ",
        "'StartTime': -9000000000000000000, 'EndTime': 1 | 60 | StartTime: -9000000000000000000",
        "'StartTime': 'today', 'EndTime': 1 | 60 | StartTime: \"today\"",
        "'StartTime': 5, 'EndTime': 5 | 60 | StartTime: 5 (expected: before EndTime)",
        "'StartTime': 0, 'EndTime': 60 | 0 | Period: 0",
        "'StartTime': 0, 'EndTime': 60 | 9223372036854775740 | Period: 9223372036854775740",
      },
      quoteCharacter = '`')
  void other_times_and_periods_are_refused(String times, String period, String message) {
    assertThatThrownBy(() -> result(times.replace('\'', '"'), period, "Sums", "Sum"))
        .isInstanceOfSatisfying(
            ApiException.class, refused -> assertThat(refused.text()).contains(message));
  }

  @Test
  void a_percentile_is_known_only_of_metrics_that_are_kept_for_one() {
    String times = "\"StartTime\": 0, \"EndTime\": 1800000000";

    assertThat(result(times, "60", "Waits", "p50").at("/Values/0").asDouble()).isEqualTo(7);
    assertThatThrownBy(() -> result(times, "60", "Sums", "p50"))
        .isInstanceOfSatisfying(
            ApiException.class, refused -> assertThat(refused.text()).contains("Stat: p50"));
  }
}
