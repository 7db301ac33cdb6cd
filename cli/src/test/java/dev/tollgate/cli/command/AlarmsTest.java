package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.local.testing.TestCloud;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The alarms of a local cloud with a queue that does not exist: its metrics are missing. */
class AlarmsTest {
  private static final String ALARM =
      """
      "%1$s": {"Type": "AWS::CloudWatch::Alarm", "Properties": {
        "AlarmName": "%2$s", "AlarmDescription": "It is wrong. Runbook: docs/runbooks/%1$s.md",
        "Threshold": 0, "ComparisonOperator": "GreaterThanThreshold", "EvaluationPeriods": 2,
        "TreatMissingData": "notBreaching",
        "Metrics": [
          {"Id": "value", "Expression": "%3$s", "ReturnData": true},
          {"Id": "m1", "ReturnData": false, "MetricStat": {"Period": 60, "Stat": "Sum",
            "Metric": {"Namespace": "Test", "MetricName": "%1$s"}}}]}}
      """;

  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private Path outputs() {
    return directory.resolve(Outputs.DEFAULT);
  }

  private TestCloud start(String... alarms) throws IOException {
    Files.writeString(
        outputs(),
        Files.readString(outputs())
            .replace("\"SessionURL\"", "\"AlarmPrefix\":\"test_tollgate-\",\"SessionURL\""));
    Path assembly = Files.createDirectories(directory.resolve("cdk.out"));
    Files.writeString(
        assembly.resolve("Sample.template.json"),
        "{\"Resources\": {" + String.join(",", alarms) + "}}");
    TestCloud cloud = TestCloud.start(assembly);
    Files.write(
        outputs().resolveSibling(LocalAccess.FILE),
        cloud.cloud().environmentOfAlarms().entrySet().stream()
            .map(variable -> variable.getKey() + "=" + variable.getValue())
            .toList());
    return cloud;
  }

  private TestCloud startWithThree() throws IOException {
    return start(
        ALARM.formatted("refusals", "test_tollgate-refusals", "m1"),
        ALARM.formatted("minute-work-stopped", "test_tollgate-minute-work-stopped", "FILL(m1,1)"),
        ALARM.formatted("another", "tollgate-another", "m1"));
  }

  @Test
  void text_shows_states_and_why_an_alarm_is_raised() throws Exception {
    try (TestCloud cloud = startWithThree()) {
      cloud.advance(Duration.ofMinutes(2));
      String minute = cloud.clock().instant().toString().substring(0, 17) + "00Z";
      String before = cloud.clock().instant().minusSeconds(60).toString().substring(0, 17) + "00Z";

      Run run = deployment.run("alarms");

      assertThat(run.err()).isEmpty();
      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.out())
          .isEqualTo(
              """
              ALARM                STATE  SINCE
              minute-work-stopped  ALARM  %s
              refusals             OK     %s

              minute-work-stopped: It is wrong. Threshold Crossed: 2 of the last 2 data
              points [1.0, 1.0] greater than threshold 0; 2 raise the alarm.
              Runbook: docs/runbooks/minute-work-stopped.md
              """
                  .formatted(minute, before));
      assertThat(run.out().lines()).allMatch(line -> line.length() <= 80);
    }
  }

  @Test
  void names_select_alarms_and_the_exit_code_is_theirs() throws Exception {
    try (TestCloud cloud = startWithThree()) {
      cloud.advance(Duration.ofMinutes(2));

      Run kept = deployment.run("alarms", "refus", "-o", "name");
      Run raised = deployment.run("alarms", "refus", "work-stopped", "-o", "name");
      Run unknown = deployment.run("alarms", "refus", "nosuch");

      assertThat(kept.out()).isEqualTo("refusals\n");
      assertThat(kept.exitCode()).isZero();
      assertThat(raised.out()).isEqualTo("minute-work-stopped\nrefusals\n");
      assertThat(raised.exitCode()).isEqualTo(1);
      assertThat(unknown.err())
          .isEqualTo(
              "tollgate: No alarm's name contains `nosuch`. List alarms with `tollgate alarms`.\n");
      assertThat(unknown.exitCode()).isEqualTo(2);
    }
  }

  @Test
  void an_alarm_over_others_comes_first() throws Exception {
    try (TestCloud cloud =
        start(
            ALARM.formatted("refusals", "test_tollgate-refusals", "FILL(m1,1)"),
            """
            "z": {"Type": "AWS::CloudWatch::CompositeAlarm", "Properties": {
              "AlarmName": "test_tollgate-z", "AlarmDescription": "One is wrong. Runbook: docs/runbooks/z.md",
              "AlarmRule": {"Fn::Sub": "ALARM(${refusals})"}}}
            """)) {
      cloud.advance(Duration.ofMinutes(2));

      assertThat(deployment.run("alarms", "-o", "name").out()).isEqualTo("z\nrefusals\n");
      assertThat(deployment.run("alarms").out())
          .contains(
              "z: One is wrong. Raised alarms of the rule: test_tollgate-refusals.\nRunbook: docs/runbooks/z.md");
    }
  }

  @Test
  void other_formats_have_the_same_alarms() throws Exception {
    try (TestCloud cloud = startWithThree()) {
      assertThat(deployment.run("alarms", "-o", "name").out())
          .isEqualTo("minute-work-stopped\nrefusals\n");
      assertThat(deployment.run("alarms", "-o", "json").out())
          .contains(
              "{\"name\":\"refusals\",\"state\":\"INSUFFICIENT_DATA\",\"since\":\""
                  + cloud.clock().instant(),
              "\"meaning\":\"It is wrong.\",\"runbook\":\"docs/runbooks/refusals.md\"}");
      assertThat(deployment.run("alarms", "-o", "yaml").out())
          .contains("name: refusals", "reason: 'Unchecked: Initial alarm creation'");
    }
  }

  @Test
  void a_deployment_without_alarms() throws Exception {
    try (TestCloud cloud = start()) {
      assertThat(cloud.cloud().outputs()).isEmpty();
      assertThat(deployment.run("alarms").out())
          .isEqualTo("No alarms. Deploy with `-c alarmTopic=ARN`, the ARN of your SNS topic.\n");
    }
  }

  @Test
  void refused_request_is_an_error_with_its_reason() throws Exception {
    try (TestCloud cloud = start()) {
      Files.write(
          outputs().resolveSibling(LocalAccess.FILE),
          cloud.cloud().environmentOfAlarms().entrySet().stream()
              .map(
                  one ->
                      one.getKey() + "=" + (isKey(one.getKey()) ? "AKIAUNKNOWN" : one.getValue()))
              .toList());

      assertThat(deployment.run("alarms").err())
          .startsWith("tollgate: Cannot read the alarms of local (")
          .contains("The security token included in the request is invalid");
    }
  }

  private static boolean isKey(String variable) {
    return variable.equals("AWS_ACCESS_KEY_ID");
  }

  @Test
  void errors_say_what_to_do() throws Exception {
    assertThat(deployment.run("alarms").err())
        .endsWith("has no output AlarmPrefix. Deploy this version of Tollgate first.\n");
    start().close();
    assertThat(deployment.run("alarms").err())
        .startsWith("tollgate: Cannot connect to ")
        .endsWith("Start the local cloud with `./tollgate up`.\n");
    Files.delete(outputs().resolveSibling(LocalAccess.FILE));
    assertThat(deployment.run("alarms").err()).contains("alarms.env, which `./tollgate up` writes");
  }
}
