package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

final class MonitoringTest {
  private static final String TOPIC = "arn:aws:sns:eu-central-1:111122223333:pager";
  private static final Synthesis STACK = Synthesis.of(Map.of("alarmTopic", TOPIC));
  private static final Path DOCS = Path.of("../docs");

  /** Metric math in an alarm has at most ten metrics (CloudWatch User Guide, "Alarms"). */
  private static final int MAX_METRICS = 10;

  private static final String SUFFIX = "-message";

  /** The alarms whose messages {@code services-failing} sends. */
  private static final Set<String> OF_SERVICES =
      Set.of(
          "admitted-without-token", "credentials-failing", "fills-dropped", "handshakes-undecided");

  /** The alarms whose messages wait while {@code services-failing} is raised. */
  private static final Set<String> SUPPRESSED = Set.of("function-errors", "messages-failing");

  /** The alarms over metrics by their names without the deployment's prefix. */
  private static Map<String, JsonNode> alarms() {
    return alarms("AWS::CloudWatch::Alarm");
  }

  private static Map<String, JsonNode> allAlarms() {
    Map<String, JsonNode> alarms = alarms();
    alarms.putAll(alarms("AWS::CloudWatch::CompositeAlarm"));
    return alarms;
  }

  private static Map<String, JsonNode> alarms(String type) {
    Map<String, JsonNode> alarms = new TreeMap<>();
    for (JsonNode alarm : STACK.resources(type).values()) {
      JsonNode properties = alarm.path("Properties");
      String name = properties.path("AlarmName").asText();
      assertThat(name).startsWith("tollgate-");
      alarms.put(name.substring("tollgate-".length()), properties);
    }
    return alarms;
  }

  private static Stream<JsonNode> metrics(JsonNode alarm) {
    return StreamSupport.stream(alarm.path("Metrics").spliterator(), false)
        .filter(query -> query.has("MetricStat"));
  }

  private static Set<String> found(Pattern pattern, String text) {
    return pattern
        .matcher(text)
        .results()
        .map(result -> result.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String metricsPage() throws IOException {
    return Files.readString(DOCS.resolve("reference/metrics.md"));
  }

  @Test
  void a_stack_without_a_topic_has_no_alarms_and_no_dashboard() {
    Synthesis stack = Synthesis.of(Map.of());

    assertThat(stack.resources("AWS::CloudWatch::Alarm")).isEmpty();
    assertThat(stack.resources("AWS::CloudWatch::Dashboard")).isEmpty();
  }

  @Test
  void each_alarm_has_a_runbook_and_a_row_in_the_reference() throws IOException {
    try (Stream<Path> pages = Files.list(DOCS.resolve("runbooks"))) {
      assertThat(pages.map(page -> page.getFileName().toString().replace(".md", "")))
          .containsExactlyInAnyOrderElementsOf(runbooks());
    }
    assertThat(
            found(
                Pattern.compile(
                    "^\\| \\[([a-z-]+)\\]\\(\\.\\./runbooks/\\1\\.md\\)", Pattern.MULTILINE),
                metricsPage()))
        .isEqualTo(runbooks());
    allAlarms()
        .forEach(
            (name, alarm) ->
                assertThat(alarm.path("AlarmDescription").asText())
                    .matches(
                        "[A-Z].{20,125}\\. Runbook: docs/runbooks/%s\\.md"
                            .formatted(name.replace(SUFFIX, ""))));
  }

  private static Set<String> runbooks() {
    return allAlarms().keySet().stream()
        .map(name -> name.replace(SUFFIX, ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void each_alarm_tells_the_topic_when_it_is_raised_and_when_it_ends() {
    assertThat(allAlarms())
        .hasSize(23)
        .allSatisfy(
            (name, alarm) -> {
              String topic = OF_SERVICES.contains(name) || SUPPRESSED.contains(name) ? "" : TOPIC;
              assertThat(alarm.at("/AlarmActions/0").asText()).isEqualTo(topic);
              assertThat(alarm.at("/OKActions/0").asText()).isEqualTo(topic);
            });
    assertThat(alarms())
        .allSatisfy(
            (name, alarm) ->
                assertThat(alarm.path("TreatMissingData").asText())
                    .isEqualTo(name.equals("minute-work-stopped") ? "breaching" : "notBreaching"));
  }

  @Test
  void a_failing_service_sends_one_message() {
    assertThat(rule("services-failing")).isEqualTo(OF_SERVICES);
    assertThat(SUPPRESSED)
        .allSatisfy(
            name -> {
              assertThat(rule(name + SUFFIX)).containsExactly(name);
              assertThat(allAlarms().get(name + SUFFIX).at("/ActionsSuppressor/Ref").asText())
                  .isIn(STACK.resources("AWS::CloudWatch::CompositeAlarm").keySet());
            });
  }

  /** The names in the rule of an alarm over alarms, which must all be joined by OR. */
  private static Set<String> rule(String name) {
    Map<String, JsonNode> byId = STACK.resources("AWS::CloudWatch::Alarm");
    Set<String> names = new TreeSet<>();
    StringBuilder rule = new StringBuilder();
    for (JsonNode part : allAlarms().get(name).at("/AlarmRule/Fn::Join/1")) {
      if (part.has("Ref")) {
        JsonNode alarm = byId.get(part.path("Ref").asText());
        names.add(alarm.at("/Properties/AlarmName").asText().replace("tollgate-", ""));
      }
      rule.append(part.asText());
    }
    assertThat(rule).matches("ALARM\\(\"\"\\)( OR ALARM\\(\"\"\\))*");
    return names;
  }

  @Test
  void each_expression_uses_all_metrics_of_its_alarm_and_no_others() {
    assertThat(alarms())
        .allSatisfy(
            (name, alarm) -> {
              JsonNode expression = alarm.at("/Metrics/0");
              assertThat(expression.path("ReturnData").asBoolean()).isTrue();
              int count = (int) metrics(alarm).count();
              assertThat(count).isBetween(1, MAX_METRICS);
              assertThat(
                      found(
                          Pattern.compile("\\b(m\\d+)\\b"), expression.path("Expression").asText()))
                  .isEqualTo(
                      IntStream.rangeClosed(1, count)
                          .mapToObj("m%d"::formatted)
                          .collect(Collectors.toCollection(TreeSet::new)));
            });
  }

  @Test
  void each_function_that_answers_is_compared_with_its_own_timeout() {
    JsonNode alarm = alarms().get("functions-slow");
    String expression = alarm.at("/Metrics/0/Expression").asText();
    Map<String, JsonNode> functions = STACK.resources("AWS::Lambda::Function");
    List<String> parts =
        metrics(alarm)
            .map(query -> query.at("/MetricStat/Metric/Dimensions/0/Value/Ref").asText())
            .map(id -> functions.get(id).at("/Properties/Timeout").asText() + "000")
            .toList();

    assertThat(parts).hasSize(8).contains("15000", "25000", "29000", "50000");
    assertThat(
            Pattern.compile("/ (\\d+)")
                .matcher(expression)
                .results()
                .map(part -> part.group(1))
                .toList())
        .isEqualTo(parts);
  }

  /** The authorizer runs once for each new connection that API Gateway accepts. */
  @Test
  void a_raised_quota_of_connections_is_that_of_the_alarm() {
    assertThat(quotas(STACK)).contains("100 * FILL(m2,0) / 30000,");
    assertThat(quotas(Synthesis.of(Map.of("alarmTopic", TOPIC, "connectionQuota", "2000"))))
        .contains("100 * FILL(m2,0) / 120000,");
  }

  private static String quotas(Synthesis stack) {
    return stack
        .properties("AWS::CloudWatch::Alarm", "TollgateMonitoringquotasnear")
        .at("/Metrics/0/Expression")
        .asText();
  }

  @Test
  void the_documented_price_is_that_of_the_metrics() throws IOException {
    long metrics = alarms().values().stream().flatMap(MonitoringTest::metrics).count();

    assertThat(metricsPage())
        .contains(
            "about $%d a month: $0.10 for each of %d metrics, and $0.50 for each of 3"
                .formatted((metrics + 3 * 5) / 10, metrics));
  }

  @Test
  void each_metric_of_tollgate_is_documented() throws IOException {
    String page = metricsPage();
    Set<String> names = new TreeSet<>();
    alarms().values().stream()
        .flatMap(MonitoringTest::metrics)
        .map(query -> query.at("/MetricStat/Metric"))
        .filter(metric -> metric.path("Namespace").asText().equals("Tollgate"))
        .forEach(
            metric -> {
              names.add(metric.path("MetricName").asText());
              metric.path("Dimensions").forEach(each -> names.add(each.path("Value").asText()));
            });

    assertThat(names)
        .contains("Connections", "ADMITTED_WITHOUT_TOKEN", "FAILED", "AbsoluteDrift")
        .allSatisfy(name -> assertThat(page).contains("\n| `" + name + "` |"));
  }

  @Test
  void the_functions_that_the_alarms_watch_are_those_of_the_stack() {
    Set<String> functions =
        STACK.resources("AWS::Lambda::Function").keySet().stream()
            // An alarm has no room for more than ten metrics. The console serves the pages. What
            // the others cannot process becomes a dead letter.
            .filter(
                id ->
                    !id.matches(
                        "Tollgate(Audit(Events|Writer)|Console|HistoryWriter|TenantPusher).*"))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> watched =
        metrics(alarms().get("function-errors"))
            .map(query -> query.at("/MetricStat/Metric/Dimensions/0/Value/Ref").asText())
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(watched).isEqualTo(functions);
  }

  @Test
  void each_saved_query_is_documented() throws IOException {
    String page = metricsPage();

    assertThat(STACK.resources("AWS::Logs::QueryDefinition").values())
        .hasSize(5)
        .extracting(query -> query.at("/Properties/Name").asText())
        .allSatisfy(name -> assertThat(page).contains("`" + name + "`"));
  }

  @Test
  void the_dashboard_has_the_metrics_of_all_alarms_on_one_screen() {
    JsonNode dashboard = STACK.properties("AWS::CloudWatch::Dashboard", "TollgateMonitoring");
    String body = dashboard.path("DashboardBody").toString();
    Set<String> names = new TreeSet<>();
    alarms().values().stream()
        .flatMap(MonitoringTest::metrics)
        .forEach(query -> names.add(query.at("/MetricStat/Metric/MetricName").asText()));

    assertThat(names).allSatisfy(name -> assertThat(body).contains(name));
    Matcher rows = Pattern.compile("\\\\\"y\\\\\":(\\d+)").matcher(body);
    assertThat(rows.results().mapToInt(row -> Integer.parseInt(row.group(1))).max())
        .as("four rows of six units fit on a screen")
        .hasValue(18);
  }
}
