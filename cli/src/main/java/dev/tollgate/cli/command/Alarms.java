package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.terminal.Table;
import java.net.ConnectException;
import java.net.URI;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClientBuilder;
import software.amazon.awssdk.services.cloudwatch.model.AlarmType;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsResponse;

/** The command {@code tollgate alarms}. */
@Command(
    name = "alarms",
    description =
        "List the deployment's CloudWatch alarms with their states. For those that are raised, also"
            + " show why, and the runbook. Exit code 1 if a listed alarm is raised.")
final class Alarms implements Callable<Integer> {
  static final String PREFIX = "AlarmPrefix";
  private static final String RUNBOOK = "Runbook: ";
  private static final String WRAPPED = "(.{1,78})(\\s+|$)";

  private static final String RAISED = "ALARM";

  private final Tollgate tollgate;

  @Parameters(
      paramLabel = "NAME",
      arity = "0..*",
      description = "List only alarms whose names contain one of these texts.")
  private List<String> names = List.of();

  Alarms(Tollgate tollgate) {
    this.tollgate = tollgate;
  }

  @Override
  public Integer call() {
    Target target = tollgate.target();
    Outputs outputs = target.outputs();
    String prefix =
        Optional.ofNullable(outputs.values().get(PREFIX))
            .orElseThrow(
                () ->
                    Failure.of(
                        "Stack %s in %s has no output %s. Deploy this version of Tollgate first."
                            .formatted(outputs.stack(), outputs.file(), PREFIX)));
    ObjectNode document = Json.object();
    ArrayNode alarms = document.putArray("alarms");
    try (CloudWatchClient cloudWatch = client(target)) {
      cloudWatch
          .describeAlarmsPaginator(
              request ->
                  request
                      .alarmNamePrefix(prefix)
                      .alarmTypes(AlarmType.COMPOSITE_ALARM, AlarmType.METRIC_ALARM))
          .stream()
          .flatMap(page -> documents(page, prefix.length()))
          .forEach(alarms::add);
    } catch (SdkClientException e) {
      URI api = target.outputs().controlPlane();
      throw RequestSigner.signs(api)
          ? Failure.of(
              "Cannot read the alarms of " + target.description() + ": " + e.getMessage(), e)
          : Failure.unreachable(api, new ConnectException(e.getMessage()));
    } catch (SdkException e) {
      throw Failure.of(
          "Cannot read the alarms of " + target.description() + ": " + e.getMessage(), e);
    }
    if (!alarms.isEmpty()) {
      keepNamed(alarms);
    }
    tollgate.print(document, lines(alarms));
    return alarms.valueStream().anyMatch(Alarms::isRaised) ? ExitCode.FAILED : 0;
  }

  private void keepNamed(ArrayNode alarms) {
    for (String name : names) {
      if (alarms.valueStream().noneMatch(alarm -> text(alarm, "name").contains(name))) {
        throw Failure.usage(
            "No alarm's name contains `%s`. List alarms with `tollgate alarms`.".formatted(name));
      }
    }
    alarms.removeIf(
        alarm -> !names.isEmpty() && names.stream().noneMatch(text(alarm, "name")::contains));
  }

  private static boolean isRaised(JsonNode alarm) {
    return text(alarm, "state").equals(RAISED);
  }

  /** The alarms of a page. Those over others come first, because each of them explains several. */
  private static Stream<ObjectNode> documents(DescribeAlarmsResponse page, int prefix) {
    return Stream.concat(
        page.compositeAlarms().stream()
            .map(
                alarm ->
                    document(
                        alarm.alarmName().substring(prefix),
                        alarm.stateValueAsString(),
                        alarm.stateReason(),
                        Optional.ofNullable(alarm.stateTransitionedTimestamp())
                            .orElseGet(alarm::stateUpdatedTimestamp),
                        Optional.ofNullable(alarm.alarmDescription()))),
        page.metricAlarms().stream()
            .map(
                alarm ->
                    document(
                        alarm.alarmName().substring(prefix),
                        alarm.stateValueAsString(),
                        alarm.stateReason(),
                        Optional.ofNullable(alarm.stateTransitionedTimestamp())
                            .orElseGet(alarm::stateUpdatedTimestamp),
                        Optional.ofNullable(alarm.alarmDescription()))));
  }

  private static ObjectNode document(
      String name, String state, String reason, Instant since, Optional<String> description) {
    String text = description.orElse("");
    int runbook = text.indexOf(RUNBOOK);
    return Json.object()
        .put("name", name)
        .put("state", state)
        .put("since", since.toString())
        .put("reason", reason)
        .put("meaning", runbook < 0 ? "" : text.substring(0, runbook).strip())
        .put("runbook", runbook < 0 ? "" : text.substring(runbook + RUNBOOK.length()));
  }

  private static List<String> lines(ArrayNode alarms) {
    if (alarms.isEmpty()) {
      return List.of("No alarms. Deploy with `-c alarmTopic=ARN`, the ARN of your SNS topic.");
    }
    Table table = new Table("ALARM", "STATE", "SINCE");
    List<String> raised = new ArrayList<>();
    for (JsonNode alarm : alarms) {
      table.row(text(alarm, "name"), text(alarm, "state"), text(alarm, "since"));
      if (isRaised(alarm)) {
        raised.add("");
        "%s: %s %s"
            .formatted(text(alarm, "name"), text(alarm, "meaning"), text(alarm, "reason"))
            .replaceAll(WRAPPED, "$1\n")
            .lines()
            .forEach(raised::add);
        raised.add(RUNBOOK + text(alarm, "runbook"));
      }
    }
    List<String> lines = new ArrayList<>(table.lines());
    lines.addAll(raised);
    return lines;
  }

  private static String text(JsonNode alarm, String field) {
    return Json.text(alarm, field).orElse("");
  }

  private static CloudWatchClient client(Target target) {
    URI api = target.outputs().controlPlane();
    CloudWatchClientBuilder builder = CloudWatchClient.builder();
    if (!RequestSigner.signs(api)) {
      return local(builder, LocalAccess.of(target.outputs()));
    }
    return builder
        .region(Region.of(RequestSigner.region(api, target.region(), target.profile())))
        .credentialsProvider(RequestSigner.credentials(target.profile()))
        .build();
  }

  private static CloudWatchClient local(CloudWatchClientBuilder builder, LocalAccess access) {
    return builder
        .endpointOverride(access.endpoint())
        .region(Region.of(access.region()))
        .credentialsProvider(access.credentials())
        .build();
  }
}
