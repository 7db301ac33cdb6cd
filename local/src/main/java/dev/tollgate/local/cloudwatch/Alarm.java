package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.DoublePredicate;

/**
 * An alarm over metric math. {@code M} of the last {@code N} data points must cross the threshold
 * to raise it. CloudWatch looks at more than {@code N} periods, and takes older data points in
 * place of missing ones. If there are too few, the rest counts as {@code TreatMissingData} says.
 *
 * <p>Periods before the start of this cloud do not count, also where CloudWatch would see missing
 * data. Otherwise an alarm that waits for work would be raised at each start.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarm-evaluation.html">Alarm
 *     evaluation</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html">Configuring
 *     how CloudWatch alarms treat missing data</a>
 */
public final class Alarm {
  private static final String EXPECTED = " (expected: %s)";

  /** How many periods CloudWatch looks back beyond the evaluation periods. */
  private static final int ADDITIONAL_PERIODS = 2;

  private final ObjectNode definition;
  private final MetricMath expression;
  private final Map<String, MetricStat> queries = new LinkedHashMap<>();
  private final Duration period;
  private final int evaluationPeriods;
  private final int datapointsToAlarm;
  private final double threshold;
  private final DoublePredicate crosses;
  private final String comparison;
  private final boolean missingCrosses;

  /**
   * The result of an evaluation.
   *
   * @param state {@code OK} or {@code ALARM}
   * @param value the latest data point; empty if it is missing
   */
  record Verdict(String state, OptionalDouble value, String reason) {}

  /**
   * Reads the properties of an {@code AWS::CloudWatch::Alarm}.
   *
   * @throws IllegalArgumentException if one has a value that is not supported here
   */
  public Alarm(ObjectNode definition) {
    this.definition = definition;
    List<Duration> periods = new ArrayList<>();
    List<String> expressions = new ArrayList<>();
    for (JsonNode query : definition.path("Metrics")) {
      String id = query.path("Id").asText();
      if (query.has("Expression")) {
        MetricStat.only(query, "Id", "Expression", "Label", "ReturnData");
        expressions.add(query.path("Expression").asText());
      } else {
        MetricStat.only(query, "Id", "Label", "MetricStat", "ReturnData");
        MetricStat stat = MetricStat.of(query.path("MetricStat"));
        queries.put(id, stat);
        periods.add(stat.period());
      }
    }
    expression = new MetricMath(one("Metrics", "one Expression", expressions));
    period = one("Period", "one for all metrics", periods);
    if (!expression.metrics().equals(queries.keySet())) {
      throw unsupported("Expression", expression.metrics(), "the metrics " + queries.keySet());
    }
    threshold = definition.path("Threshold").asDouble();
    evaluationPeriods = definition.path("EvaluationPeriods").asInt();
    datapointsToAlarm = definition.path("DatapointsToAlarm").asInt(evaluationPeriods);
    if (datapointsToAlarm < 1 || datapointsToAlarm > evaluationPeriods) {
      throw unsupported("DatapointsToAlarm", datapointsToAlarm, "1 to EvaluationPeriods");
    }
    String operator = definition.path("ComparisonOperator").asText();
    crosses =
        switch (operator) {
          case "GreaterThanThreshold" -> value -> value > threshold;
          case "GreaterThanOrEqualToThreshold" -> value -> value >= threshold;
          case "LessThanThreshold" -> value -> value < threshold;
          case "LessThanOrEqualToThreshold" -> value -> value <= threshold;
          default ->
              throw unsupported("ComparisonOperator", operator, "a comparison with the threshold");
        };
    comparison = operator.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase(Locale.ROOT);
    String missing = definition.path("TreatMissingData").asText("missing");
    if (!Set.of("breaching", "notBreaching").contains(missing)) {
      throw unsupported("TreatMissingData", missing, "breaching or notBreaching");
    }
    missingCrosses = missing.equals("breaching");
  }

  private static <T> T one(String name, String expected, List<T> values) {
    if (values.stream().distinct().count() != 1) {
      throw unsupported(name, values, expected);
    }
    return values.get(0);
  }

  private static IllegalArgumentException unsupported(String name, Object value, String expected) {
    return new IllegalArgumentException(name + ": " + value + EXPECTED.formatted(expected));
  }

  /** The name. */
  String name() {
    return definition.path("AlarmName").asText();
  }

  /** The definition, with the members of the API. */
  ObjectNode definition() {
    return definition.deepCopy();
  }

  /** The statistics that it watches. */
  List<MetricStat> statistics() {
    return List.copyOf(queries.values());
  }

  /** The metrics whose quotas it compares with. */
  List<Metric> quotas() {
    return queries.entrySet().stream()
        .filter(query -> expression.quotas().contains(query.getKey()))
        .map(query -> query.getValue().metric())
        .toList();
  }

  /** How far it looks back. */
  Duration range() {
    return period.multipliedBy(evaluationPeriods + ADDITIONAL_PERIODS);
  }

  /**
   * Evaluates the periods that end at a minute and before.
   *
   * @param start when the first period may begin
   * @return empty if there is no whole period since the start
   */
  Optional<Verdict> evaluate(MetricStore store, Instant start, Instant minute) {
    List<OptionalDouble> points = new ArrayList<>();
    Instant end = minute;
    for (int i = 0; i < evaluationPeriods + ADDITIONAL_PERIODS; i++) {
      Instant begin = end.minus(period);
      if (begin.isBefore(start)) {
        break;
      }
      points.add(point(store, begin, end));
      end = begin;
    }
    return points.isEmpty() ? Optional.empty() : Optional.of(judge(points));
  }

  private OptionalDouble point(MetricStore store, Instant begin, Instant end) {
    Map<String, OptionalDouble> values = new HashMap<>();
    queries.forEach(
        (id, query) -> {
          values.put(id, query.of(store.samples(query.metric(), begin, end)));
          values.put(MetricMath.quota(id), store.quota(query.metric()));
        });
    return expression.in(values);
  }

  /** The verdict on data points, the latest one first. */
  Verdict judge(List<OptionalDouble> points) {
    List<Double> values =
        points.stream()
            .flatMapToDouble(OptionalDouble::stream)
            .limit(evaluationPeriods)
            .boxed()
            .toList();
    int missing = Math.min(evaluationPeriods, points.size()) - values.size();
    long crossing = values.stream().filter(crosses::test).count() + (missingCrosses ? missing : 0);
    boolean raised = crossing >= datapointsToAlarm;
    String reason =
        "Threshold Crossed: %d of the last %d data points %s %s %s; %d raise the alarm."
            .formatted(
                crossing,
                values.size() + missing,
                values,
                comparison,
                definition.path("Threshold").asText(),
                datapointsToAlarm);
    return new Verdict(raised ? "ALARM" : "OK", points.get(0), reason);
  }
}
