package dev.tollgate.aws.cloudwatch;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.alarm.Alarm;
import dev.tollgate.core.alarm.Alarm.State;
import dev.tollgate.core.alarm.Alarms;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.AlarmType;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsResponse;
import software.amazon.awssdk.services.cloudwatch.model.StateValue;

/**
 * The alarms whose names begin with a prefix.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_DescribeAlarms.html">DescribeAlarms</a>
 */
public final class CloudWatchAlarms implements Alarms {
  private static final String RUNBOOK = "Runbook: ";

  /** The most alarms of a page that CloudWatch allows. */
  private static final int PAGE = 100;

  /** The most pages of a list: more would exceed the time that a request has. */
  private static final int MAX_PAGES = 10;

  private final CloudWatchClient cloudWatch;
  private final String prefix;

  /**
   * @param prefix what the names of the deployment's alarms begin with
   */
  public CloudWatchAlarms(CloudWatchClient cloudWatch, String prefix) {
    this.cloudWatch = cloudWatch;
    this.prefix = prefix;
  }

  /**
   * {@inheritDoc}
   *
   * @throws Unavailable also if there are more than 1,000 alarms
   */
  @Override
  public List<Alarm> list() {
    List<Alarm> alarms = new ArrayList<>();
    Optional<String> next = Optional.empty();
    int pages = 0;
    do {
      if (pages == MAX_PAGES) {
        throw new Unavailable(
            "CloudWatch DescribeAlarms: more than %d pages of alarms whose names begin with %s"
                .formatted(MAX_PAGES, prefix));
      }
      pages++;
      DescribeAlarmsResponse page = page(next);
      page.metricAlarms()
          .forEach(
              one ->
                  alarms.add(
                      alarm(
                          one.alarmName(),
                          one.stateValue(),
                          Optional.ofNullable(one.stateTransitionedTimestamp())
                              .orElseGet(one::stateUpdatedTimestamp),
                          one.stateReason(),
                          Optional.ofNullable(one.alarmDescription()))));
      page.compositeAlarms()
          .forEach(
              one ->
                  alarms.add(
                      alarm(
                          one.alarmName(),
                          one.stateValue(),
                          Optional.ofNullable(one.stateTransitionedTimestamp())
                              .orElseGet(one::stateUpdatedTimestamp),
                          one.stateReason(),
                          Optional.ofNullable(one.alarmDescription()))));
      next = Optional.ofNullable(page.nextToken());
    } while (next.isPresent());
    alarms.sort(Comparator.comparing(Alarm::name));
    return alarms;
  }

  private DescribeAlarmsResponse page(Optional<String> token) {
    return ask(
        "CloudWatch DescribeAlarms",
        () ->
            cloudWatch.describeAlarms(
                request ->
                    request
                        .alarmNamePrefix(prefix)
                        .maxRecords(PAGE)
                        .alarmTypes(AlarmType.METRIC_ALARM, AlarmType.COMPOSITE_ALARM)
                        .nextToken(token.orElse(null))));
  }

  private Alarm alarm(
      String name, StateValue state, Instant since, String reason, Optional<String> description) {
    String text = description.orElse("");
    int runbook = text.indexOf(RUNBOOK);
    return new Alarm(
        name.substring(prefix.length()),
        runbook < 0 ? "" : text.substring(0, runbook).strip(),
        switch (state) {
          case OK -> State.OK;
          case ALARM -> State.ALARM;
          default -> State.INSUFFICIENT_DATA;
        },
        since,
        reason,
        runbook < 0 ? "" : text.substring(runbook + RUNBOOK.length()));
  }
}
