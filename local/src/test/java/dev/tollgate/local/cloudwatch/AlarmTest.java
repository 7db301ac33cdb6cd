package dev.tollgate.local.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AlarmTest {
  private static final Instant START = Instant.parse("2026-01-01T12:00:00Z");
  private static final Metric ERRORS =
      new Metric("AWS/Lambda", "Errors", Map.of("FunctionName", "f"));

  private final ManualClock clock = new ManualClock(START);

  private static ObjectNode definition() {
    return Json.readObject(
        """
        {"AlarmName": "errors", "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold",
         "EvaluationPeriods": 3, "DatapointsToAlarm": 2, "TreatMissingData": "notBreaching",
         "Metrics": [
           {"Id": "value", "Expression": "m1", "ReturnData": true},
           {"Id": "m1", "ReturnData": false, "MetricStat": {
              "Period": 60, "Stat": "Sum", "Metric": {
                "Namespace": "AWS/Lambda", "MetricName": "Errors",
                "Dimensions": [{"Name": "FunctionName", "Value": "f"}]}}}]}
        """);
  }

  /** Data points, the latest one last: numbers, and a dash for a missing one. */
  private static List<OptionalDouble> points(String text) {
    List<OptionalDouble> points =
        Stream.of(text.split(" "))
            .map(
                point ->
                    point.equals("-")
                        ? OptionalDouble.empty()
                        : OptionalDouble.of(Double.parseDouble(point)))
            .toList();
    return Stream.iterate(points.size() - 1, i -> i >= 0, i -> i - 1).map(points::get).toList();
  }

  // The rows of CloudWatch's user guide, "Configuring how CloudWatch alarms treat missing data",
  // and others. Of five points, the last three are the evaluation periods.
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // M | N | missing    | points    | state
        "3 | 3 | notBreaching | 0 - 1 - 1 | OK",
        "3 | 3 | breaching    | 0 - 1 - 1 | OK",
        "3 | 3 | notBreaching | 0 - - - - | OK",
        "3 | 3 | breaching    | 0 - - - - | OK",
        "3 | 3 | notBreaching | - - - - - | OK",
        "3 | 3 | breaching    | - - - - - | ALARM",
        "3 | 3 | notBreaching | 0 1 1 - 1 | ALARM",
        "3 | 3 | notBreaching | - - 1 - - | OK",
        "3 | 3 | breaching    | - - 1 - - | ALARM",
        "2 | 3 | notBreaching | 0 - 1 - 1 | ALARM",
        "2 | 3 | breaching    | 0 0 1 0 1 | ALARM",
        "2 | 3 | notBreaching | 0 - 1 - - | OK",
        "2 | 3 | breaching    | 0 - 1 - - | ALARM",
        "2 | 3 | notBreaching | 1 1 0 0 1 | OK",
        "3 | 5 | notBreaching | 1 0 1 0 1 | ALARM",
        "3 | 5 | notBreaching | 1 0 0 0 1 | OK",
        "1 | 4 | notBreaching | 1 0 0 0   | ALARM",
        "1 | 4 | notBreaching | 1 0 0 0 0 | OK",
      })
  void m_of_n_data_points_raise_the_alarm(int m, int n, String missing, String points, String is) {
    ObjectNode definition = definition();
    definition.put("DatapointsToAlarm", m).put("EvaluationPeriods", n);
    definition.put("TreatMissingData", missing);

    assertThat(new Alarm(definition).judge(points(points)).state()).isEqualTo(is);
  }

  @ParameterizedTest
  @CsvSource({
    "GreaterThanThreshold,1,OK", "GreaterThanThreshold,1.5,ALARM",
    "GreaterThanOrEqualToThreshold,1,ALARM", "LessThanThreshold,1,OK",
    "LessThanThreshold,0.5,ALARM", "LessThanOrEqualToThreshold,1,ALARM"
  })
  void comparisons(String operator, double value, String state) {
    ObjectNode definition = definition().put("ComparisonOperator", operator).put("Threshold", 1);
    definition.put("DatapointsToAlarm", 1).put("EvaluationPeriods", 1);

    assertThat(new Alarm(definition).judge(List.of(OptionalDouble.of(value))).state())
        .isEqualTo(state);
  }

  @ParameterizedTest
  @CsvSource({"Sum,6", "Maximum,3", "p50,2", "p99,3"})
  void statistics_of_a_period_of_several_minutes(String statistic, double value) {
    ObjectNode definition = definition().put("EvaluationPeriods", 1).put("DatapointsToAlarm", 1);
    ((ObjectNode) definition.at("/Metrics/1/MetricStat")).put("Stat", statistic).put("Period", 300);
    Alarm alarm = new Alarm(definition);
    MetricStore store = store(alarm);
    store.record(ERRORS, START.plusSeconds(61), 1);
    store.record(ERRORS, START.plusSeconds(180), 3);
    store.record(ERRORS, START.plusSeconds(299), 2);
    store.record(ERRORS, START.plusSeconds(300), 50);

    assertThat(alarm.evaluate(store, START, START.plusSeconds(300)).orElseThrow().value())
        .hasValue(value);
  }

  @Test
  void a_quota_is_the_one_of_the_time_of_the_evaluation() {
    ObjectNode definition = definition();
    ((ObjectNode) definition.at("/Metrics/0"))
        .put("Expression", "FILL(100 * m1 / SERVICE_QUOTA(m1),0)");
    Alarm alarm = new Alarm(definition);
    assertThat(alarm.quotas()).containsExactly(ERRORS);
    MetricStore store = store(alarm);
    double[] quota = {1_000};
    store.quota(ERRORS, () -> quota[0]);
    store.record(ERRORS, START, 30);
    assertThat(alarm.evaluate(store, START, minute(1)).orElseThrow().value()).hasValue(3);

    quota[0] = 40;

    assertThat(alarm.evaluate(store, START, minute(1)).orElseThrow().value()).hasValue(75);
    assertThat(alarm.evaluate(store, START, minute(2)).orElseThrow().value()).hasValue(0);
  }

  @Test
  void periods_before_the_start_do_not_count() {
    ObjectNode definition = definition().put("TreatMissingData", "breaching");
    Alarm alarm = new Alarm(definition);
    MetricStore store = store(alarm);

    assertThat(alarm.evaluate(store, START, START)).isEmpty();
    assertThat(alarm.evaluate(store, START, minute(1)).map(Alarm.Verdict::state)).hasValue("OK");
    assertThat(alarm.evaluate(store, START, minute(2)).map(Alarm.Verdict::state)).hasValue("ALARM");
  }

  @Test
  void the_reason_names_the_data_points_and_the_threshold() {
    assertThat(new Alarm(definition()).judge(points("0 3 2")).reason())
        .isEqualTo(
            "Threshold Crossed: 2 of the last 3 data points [2.0, 3.0, 0.0] greater than"
                + " threshold 0; 2 raise the alarm.");
  }

  @Test
  void embedded_metrics_are_recorded_with_their_dimensions() {
    Alarm alarm = new Alarm(definition());
    MetricStore store = store(alarm);
    store.logged(
        """
        {"_aws": {"Timestamp": %d, "CloudWatchMetrics": [{"Namespace": "AWS/Lambda",
          "Dimensions": [["FunctionName"], []], "Metrics": [{"Name": "Errors"}]}]},
         "Errors": [1, 2], "FunctionName": "f"}
        """
            .formatted(START.toEpochMilli()));
    store.logged("no \"_aws\" metrics");

    Samples recorded = store.samples(ERRORS, START, minute(1));
    assertThat(recorded.count()).isEqualTo(2);
    assertThat(recorded.sum()).isEqualTo(3);
  }

  @Test
  void samples_are_kept_as_long_as_an_alarm_looks_back() {
    Alarm alarm = new Alarm(definition());
    MetricStore store = store(alarm);
    store.record(ERRORS, START, 1);
    clock.set(minute(5));
    store.record(ERRORS, minute(5), 1);
    assertThat(store.samples(ERRORS, START, minute(6)).count()).isEqualTo(2);

    clock.set(minute(6));
    store.record(ERRORS, minute(6), 1);

    assertThat(store.samples(ERRORS, START, minute(7)).count()).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/TreatMissingData | missing | TreatMissingData: missing (expected: breaching or notBreaching)",
        "/ComparisonOperator | GreaterThanUpperThreshold | ComparisonOperator:"
            + " GreaterThanUpperThreshold (expected: a comparison with the threshold)",
        "/DatapointsToAlarm | 4 | DatapointsToAlarm: 4 (expected: 1 to EvaluationPeriods)",
        "/Metrics/1/MetricStat/Stat | Average | Stat: Average (expected: Sum, Maximum or a"
            + " percentile)",
        "/Metrics/1/MetricStat/Period | 10 | Period: 10 (expected: whole minutes, up to a day)",
        "/Metrics/1/MetricStat/Unit | Count | Unit: unknown property",
        "/Metrics/0/Expression | ANOMALY_DETECTION_BAND(m1) | ANOMALY_DETECTION_BAND (expected: a"
            + " number, a metric, FILL, IF, MAX, MIN, SERVICE_QUOTA or SUM)",
        "/Metrics/0/Expression | m2 | Expression: [m2] (expected: the metrics [m1])",
      })
  void what_is_not_supported_is_refused_by_name(String at, String value, String message) {
    ObjectNode definition = definition();
    int end = at.lastIndexOf('/');
    ((ObjectNode) definition.at(at.substring(0, end))).put(at.substring(end + 1), value);

    assertThatThrownBy(() -> new Alarm(definition))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(message);
  }

  private MetricStore store(Alarm alarm) {
    MetricStore store = new MetricStore(clock);
    alarm.statistics().forEach(each -> store.watch(each.metric(), each.statistic(), alarm.range()));
    return store;
  }

  private static Instant minute(int number) {
    return START.plus(Duration.ofMinutes(number));
  }
}
