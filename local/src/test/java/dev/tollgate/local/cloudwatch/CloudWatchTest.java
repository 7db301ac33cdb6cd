package dev.tollgate.local.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.Options;
import dev.tollgate.local.template.TemplateException;
import dev.tollgate.local.testing.TestCloud;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.AlarmType;
import software.amazon.awssdk.services.cloudwatch.model.CloudWatchException;
import software.amazon.awssdk.services.cloudwatch.model.CompositeAlarm;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsResponse;
import software.amazon.awssdk.services.cloudwatch.model.Dimension;
import software.amazon.awssdk.services.cloudwatch.model.MetricAlarm;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataQuery;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataResult;
import software.amazon.awssdk.services.cloudwatch.model.StateValue;
import software.amazon.awssdk.services.sqs.SqsClient;

/** The alarms of a stack with a queue, read with the AWS SDK. */
final class CloudWatchTest {
  private static final String TEMPLATE =
      """
      {"Resources": {
        "Jobs": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "jobs"}},
        "Quiet": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "quiet"}},
        "Waiting": {"Type": "AWS::CloudWatch::Alarm", "Properties": {
          "AlarmName": "test_waiting", "AlarmDescription": "Runbook: waiting.md",
          "Threshold": 90, "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1,
          "TreatMissingData": "notBreaching",
          "Metrics": [
            {"Id": "value", "Expression": "EXPRESSION", "ReturnData": true},
            {"Id": "m1", "ReturnData": false, "MetricStat": {"Period": 60, "Stat": "Maximum",
              "Metric": {"Namespace": "AWS/SQS", "MetricName": "ApproximateAgeOfOldestMessage",
                "Dimensions": [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["Jobs", "QueueName"]}}]
              }}}]}},
        "Present": {"Type": "AWS::CloudWatch::Alarm", "Properties": {
          "AlarmName": "other_present", "Threshold": 0,
          "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 1,
          "TreatMissingData": "notBreaching",
          "Metrics": [
            {"Id": "value", "Expression": "m1", "ReturnData": true},
            {"Id": "m1", "ReturnData": false, "MetricStat": {"Period": 60, "Stat": "Maximum",
              "Metric": {"Namespace": "AWS/SQS", "MetricName": "ApproximateNumberOfMessagesVisible",
                "Dimensions": [{"Name": "QueueName", "Value": {"Fn::GetAtt": ["Jobs", "QueueName"]}}]
              }}}]}},
        "Screen": {"Type": "AWS::CloudWatch::Dashboard", "Properties": {
          "DashboardName": "screen", "DashboardBody": {"Fn::Join": ["", [
            "{\\"widgets\\":[{\\"type\\":\\"metric\\",\\"properties\\":{\\"metrics\\":[[\\"AWS/SQS\\",",
            "\\"ApproximateNumberOfMessagesVisible\\",\\"QueueName\\",\\"",
            {"Fn::GetAtt": ["Quiet", "QueueName"]}, "\\",{\\"stat\\":\\"Maximum\\"}]]}}]}"]]}}},
        "Any": {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {
          "AlarmName": "test_any", "AlarmRule": {"Fn::Join": ["", [
            "ALARM(\\"", {"Ref": "Waiting"}, "\\") OR ALARM(\\"", {"Ref": "Present"}, "\\")TERM"]]}}}}}
      """;

  @TempDir private Path assembly;

  @BeforeEach
  void template() throws IOException {
    write("m1", "");
  }

  private void write(String expression, String term) throws IOException {
    Files.writeString(
        assembly.resolve("Sample.template.json"),
        TEMPLATE.replace("EXPRESSION", expression).replace("TERM", term));
  }

  private static AwsCredentialsProvider credentials(Map<String, String> variables) {
    return StaticCredentialsProvider.create(
        AwsSessionCredentials.create(
            variables.getOrDefault("AWS_ACCESS_KEY_ID", ""),
            variables.getOrDefault("AWS_SECRET_ACCESS_KEY", ""),
            variables.getOrDefault("AWS_SESSION_TOKEN", "")));
  }

  private static CloudWatchClient client(TestCloud cloud) {
    return CloudWatchClient.builder()
        .endpointOverride(cloud.cloud().endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(credentials(cloud.cloud().environmentOfAlarms()))
        .build();
  }

  private static <B extends AwsClientBuilder<B, C>, C> C inspector(TestCloud cloud, B builder) {
    return builder
        .endpointOverride(cloud.cloud().endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(credentials(cloud.cloud().accessKey("test").environment()))
        .build();
  }

  @Test
  void an_alarm_is_raised_and_ends() throws Exception {
    try (TestCloud cloud = TestCloud.start(assembly);
        CloudWatchClient cloudWatch = client(cloud);
        SqsClient queues = inspector(cloud, SqsClient.builder())) {
      String queue = queues.getQueueUrl(request -> request.queueName("jobs")).queueUrl();
      assertThat(waiting(cloudWatch).stateValue()).isEqualTo(StateValue.INSUFFICIENT_DATA);

      cloud.advance(Duration.ofMinutes(1));
      assertThat(waiting(cloudWatch).stateValue()).isEqualTo(StateValue.OK);

      queues.sendMessage(request -> request.queueUrl(queue).messageBody("a job"));
      cloud.advance(Duration.ofMinutes(2));
      MetricAlarm raised = waiting(cloudWatch);
      assertThat(raised.stateValue()).isEqualTo(StateValue.ALARM);
      assertThat(raised.stateReason()).contains("[115.0] greater than threshold 90");
      assertThat(raised.alarmDescription()).isEqualTo("Runbook: waiting.md");
      assertThat(raised.stateTransitionedTimestamp())
          .isEqualTo(cloud.clock().instant().truncatedTo(ChronoUnit.MINUTES));
      assertThat(raised.metrics()).hasSize(2);

      queues.purgeQueue(request -> request.queueUrl(queue));
      cloud.advance(Duration.ofMinutes(1));
      assertThat(waiting(cloudWatch).stateValue()).isEqualTo(StateValue.OK);
    }
  }

  @Test
  void an_alarm_over_alarms_is_raised_while_one_of_them_is() throws Exception {
    try (TestCloud cloud = TestCloud.start(assembly);
        CloudWatchClient cloudWatch = client(cloud);
        SqsClient queues = inspector(cloud, SqsClient.builder())) {
      String queue = queues.getQueueUrl(request -> request.queueName("jobs")).queueUrl();
      assertThat(any(cloudWatch).stateValue()).isEqualTo(StateValue.INSUFFICIENT_DATA);

      queues.sendMessage(request -> request.queueUrl(queue).messageBody("a job"));
      cloud.advance(Duration.ofMinutes(1));
      assertThat(any(cloudWatch).stateValue()).isEqualTo(StateValue.ALARM);
      assertThat(any(cloudWatch).stateReason())
          .isEqualTo("Raised alarms of the rule: other_present.");
      cloud.advance(Duration.ofMinutes(2));
      assertThat(any(cloudWatch).stateTransitionedTimestamp())
          .isBefore(cloud.clock().instant().minusSeconds(60));

      queues.purgeQueue(request -> request.queueUrl(queue));
      cloud.advance(Duration.ofMinutes(1));
      assertThat(any(cloudWatch).stateValue()).isEqualTo(StateValue.OK);
    }
  }

  private static CompositeAlarm any(CloudWatchClient cloudWatch) {
    return cloudWatch
        .describeAlarms(request -> request.alarmTypes(AlarmType.COMPOSITE_ALARM))
        .compositeAlarms()
        .get(0);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        " OR NOT ALARM(a) | NOT ALARM(a) (expected: ALARM(\"name\"))",
        " OR ALARM(a) | a (expected: an alarm)"
      })
  void an_unknown_rule_is_refused_when_the_stack_is_read(String term, String message)
      throws IOException {
    write("m1", " " + term);

    assertThatThrownBy(() -> TestCloud.start(clock -> Options.inMemory(assembly, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("AlarmRule: " + message);
  }

  private static MetricAlarm waiting(CloudWatchClient cloudWatch) {
    return cloudWatch
        .describeAlarms(request -> request.alarmNamePrefix("test_"))
        .metricAlarms()
        .stream()
        .reduce(
            (one, another) -> {
              throw new AssertionError(another);
            })
        .orElseThrow();
  }

  @Test
  void alarms_are_listed_in_pages() {
    try (TestCloud cloud = TestCloud.start(assembly);
        CloudWatchClient cloudWatch = client(cloud)) {
      assertThat(
              cloudWatch.describeAlarmsPaginator(request -> request.maxRecords(1)).stream()
                  .map(DescribeAlarmsResponse::metricAlarms)
                  .map(page -> page.get(0).alarmName()))
          .containsExactly("other_present", "test_waiting");
      assertThat(
              cloudWatch
                  .describeAlarms(request -> request.stateValue(StateValue.ALARM))
                  .metricAlarms())
          .isEmpty();
    }
  }

  @Test
  void a_dashboard_and_its_metrics_can_be_read() throws Exception {
    try (TestCloud cloud = TestCloud.start(assembly);
        CloudWatchClient cloudWatch = inspector(cloud, CloudWatchClient.builder());
        SqsClient queues = inspector(cloud, SqsClient.builder())) {
      Instant start = cloud.clock().instant().truncatedTo(ChronoUnit.MINUTES);
      assertThat(
              cloudWatch.getDashboard(request -> request.dashboardName("screen")).dashboardBody())
          .contains("\"QueueName\",\"quiet\"");
      assertThatThrownBy(() -> cloudWatch.getDashboard(request -> request.dashboardName("absent")))
          .isInstanceOf(CloudWatchException.class)
          .hasMessageContaining("Dashboard absent does not exist");

      cloud.advance(Duration.ofMinutes(1));
      String quiet = queues.getQueueUrl(request -> request.queueName("quiet")).queueUrl();
      for (int i = 0; i < 2; i++) {
        queues.sendMessage(request -> request.queueUrl(quiet).messageBody("a job"));
        cloud.advance(Duration.ofMinutes(1));
      }

      MetricDataResult minutes = visible(cloudWatch, start, cloud.clock().instant(), 60);
      assertThat(minutes.values()).containsExactly(2.0, 1.0, 0.0);
      assertThat(minutes.timestamps())
          .containsExactly(start.plusSeconds(120), start.plusSeconds(60), start);
      assertThat(visible(cloudWatch, start.plusSeconds(60), cloud.clock().instant(), 60).values())
          .containsExactly(2.0, 1.0);
      assertThatThrownBy(() -> visible(cloudWatch, start, cloud.clock().instant(), 30))
          .isInstanceOf(CloudWatchException.class)
          .hasMessageContaining("Period: 30 (expected: whole minutes, up to a day)");
    }
  }

  private static MetricDataResult visible(
      CloudWatchClient cloudWatch, Instant start, Instant end, int period) {
    MetricDataQuery query =
        MetricDataQuery.builder()
            .id("m1")
            .metricStat(
                stat ->
                    stat.period(period)
                        .stat("Maximum")
                        .metric(
                            metric ->
                                metric
                                    .namespace("AWS/SQS")
                                    .metricName("ApproximateNumberOfMessagesVisible")
                                    .dimensions(
                                        List.of(
                                            Dimension.builder()
                                                .name("QueueName")
                                                .value("quiet")
                                                .build()))))
            .build();
    return cloudWatch
        .getMetricData(request -> request.metricDataQueries(query).startTime(start).endTime(end))
        .metricDataResults()
        .get(0);
  }

  @Test
  void the_credentials_for_alarms_allow_nothing_else() {
    try (TestCloud cloud = TestCloud.start(assembly);
        CloudWatchClient cloudWatch = client(cloud)) {
      assertThatThrownBy(() -> cloudWatch.deleteAlarms(request -> request.alarmNames("a")))
          .isInstanceOf(CloudWatchException.class)
          .hasMessageContaining("cloudwatch:DeleteAlarms");
    }
  }

  @Test
  void a_metric_that_measures_no_quota_is_refused_when_the_stack_is_read() throws IOException {
    write("100 * m1 / SERVICE_QUOTA(m1)", "");

    assertThatThrownBy(() -> TestCloud.start(clock -> Options.inMemory(assembly, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("SERVICE_QUOTA: ")
        .hasMessageContaining("ApproximateAgeOfOldestMessage")
        .hasMessageContaining("(expected: a metric that measures a quota)");
  }

  @Test
  void an_unknown_expression_is_refused_when_the_stack_is_read() throws IOException {
    write("STDDEV(m1)", "");

    assertThatThrownBy(() -> TestCloud.start(clock -> Options.inMemory(assembly, clock)))
        .isInstanceOf(TemplateException.class)
        .hasMessageContaining("Waiting")
        .hasMessageContaining(
            "STDDEV (expected: a number, a metric, FILL, IF, MAX, MIN, SERVICE_QUOTA or SUM)");
  }
}
