package dev.tollgate.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MetricLineTest {
  private static final Instant NOW = Instant.ofEpochMilli(1_700_000_000_000L);

  @Test
  void a_line_declares_its_metrics_and_has_their_values() {
    assertThat(
            MetricLine.of(
                NOW,
                "Count",
                Map.of("Messages", 3),
                Optional.of("Outcome"),
                Map.of("Outcome", "A")))
        .isEqualTo(
            "{\"_aws\":{\"Timestamp\":1700000000000,\"CloudWatchMetrics\":[{\"Namespace\":\"Tollgate\","
                + "\"Dimensions\":[[\"Outcome\"]],\"Metrics\":[{\"Name\":\"Messages\","
                + "\"Unit\":\"Count\"}]}]},\"Messages\":3,\"Outcome\":\"A\"}");
  }

  @Test
  void a_property_cannot_leave_its_string_or_the_line() {
    assertThat(MetricLine.credentialFailures(NOW, "STS", 1, "\"a\\\r\n\u0000é\""))
        .endsWith(",\"reason\":\"\\\"a\\\\\\u000d\\u000a\\u0000é\\\"\"}");
  }

  @Test
  void the_delay_of_a_fill_is_at_most_a_day() {
    assertThat(MetricLine.fillDelay(NOW, NOW.minusMillis(90), Optional.empty(), ""))
        .contains("\"FillDelay\":90,");
    assertThat(MetricLine.fillDelay(NOW, Instant.MIN, Optional.empty(), ""))
        .contains("\"FillDelay\":86400000,");
    assertThat(MetricLine.fillDelay(NOW, Instant.MAX, Optional.empty(), ""))
        .contains("\"FillDelay\":0,");
  }

  @Test
  void a_fill_before_its_minute_has_no_delay() {
    assertThat(MetricLine.fillDelay(NOW, NOW.plusMillis(1), Optional.empty(), ""))
        .contains("\"Dimensions\":[[]]", "\"FillDelay\":0,");
  }
}
