package dev.tollgate.aws.cloudwatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.alarm.Alarm;
import dev.tollgate.core.alarm.Alarm.State;
import dev.tollgate.core.testing.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.AlarmType;
import software.amazon.awssdk.services.cloudwatch.model.CloudWatchException;
import software.amazon.awssdk.services.cloudwatch.model.CompositeAlarm;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsRequest;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsResponse;
import software.amazon.awssdk.services.cloudwatch.model.MetricAlarm;
import software.amazon.awssdk.services.cloudwatch.model.StateValue;

class CloudWatchAlarmsTest {
  private final List<DescribeAlarmsRequest> requests = new ArrayList<>();

  private static MetricAlarm.Builder alarm(String name) {
    return MetricAlarm.builder()
        .alarmName(name)
        .alarmDescription("Fills are late. Runbook: docs/runbooks/fills-late.md")
        .stateValue(StateValue.ALARM)
        .stateReason("why")
        .stateUpdatedTimestamp(Samples.NOW.plusSeconds(60))
        .stateTransitionedTimestamp(Samples.NOW);
  }

  /** CloudWatch with two pages. */
  private List<Alarm> list(DescribeAlarmsResponse first, DescribeAlarmsResponse second) {
    return new CloudWatchAlarms(
            new CloudWatchClient() {
              @Override
              public DescribeAlarmsResponse describeAlarms(
                  Consumer<DescribeAlarmsRequest.Builder> request) {
                DescribeAlarmsRequest.Builder builder = DescribeAlarmsRequest.builder();
                request.accept(builder);
                requests.add(builder.build());
                return requests.size() == 1 ? first : second;
              }

              @Override
              public String serviceName() {
                return SERVICE_NAME;
              }

              @Override
              public void close() {}
            },
            "blue_tollgate-")
        .list();
  }

  @Test
  void the_alarms_of_all_pages_are_listed_by_name() {
    List<Alarm> alarms =
        list(
            DescribeAlarmsResponse.builder()
                .metricAlarms(alarm("blue_tollgate-fills-late").build())
                .nextToken("more")
                .build(),
            DescribeAlarmsResponse.builder()
                .metricAlarms(
                    alarm("blue_tollgate-by-hand")
                        .alarmDescription("whatever")
                        .stateValue("SOMETHING_NEW")
                        .stateTransitionedTimestamp(null)
                        .build())
                .compositeAlarms(
                    CompositeAlarm.builder()
                        .alarmName("blue_tollgate-services-failing")
                        .stateValue(StateValue.OK)
                        .stateReason("none")
                        .stateUpdatedTimestamp(Samples.NOW)
                        .build())
                .build());

    assertThat(alarms)
        .containsExactly(
            new Alarm(
                "by-hand", "", State.INSUFFICIENT_DATA, Samples.NOW.plusSeconds(60), "why", ""),
            new Alarm(
                "fills-late",
                "Fills are late.",
                State.ALARM,
                Samples.NOW,
                "why",
                "docs/runbooks/fills-late.md"),
            new Alarm("services-failing", "", State.OK, Samples.NOW, "none", ""));
    assertThat(requests).extracting(DescribeAlarmsRequest::nextToken).containsExactly(null, "more");
    assertThat(requests)
        .allSatisfy(
            request -> {
              assertThat(request.maxRecords()).isEqualTo(100);
              assertThat(request.alarmNamePrefix()).isEqualTo("blue_tollgate-");
              assertThat(request.alarmTypes())
                  .containsExactlyInAnyOrder(AlarmType.METRIC_ALARM, AlarmType.COMPOSITE_ALARM);
            });
  }

  @Test
  void a_list_without_end_is_reported_as_unavailable() {
    DescribeAlarmsResponse page = DescribeAlarmsResponse.builder().nextToken("more").build();

    assertThatThrownBy(() -> list(page, page))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("more than 10 pages of alarms whose names begin with blue_tollgate-");
    assertThat(requests).hasSize(10);
  }

  @Test
  void a_failed_request_is_reported_as_unavailable() {
    CloudWatchClient failing =
        new CloudWatchClient() {
          @Override
          public DescribeAlarmsResponse describeAlarms(
              Consumer<DescribeAlarmsRequest.Builder> request) {
            throw CloudWatchException.builder().message("denied").statusCode(403).build();
          }

          @Override
          public String serviceName() {
            return SERVICE_NAME;
          }

          @Override
          public void close() {}
        };

    assertThatThrownBy(() -> new CloudWatchAlarms(failing, "").list())
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("CloudWatch DescribeAlarms");
  }
}
