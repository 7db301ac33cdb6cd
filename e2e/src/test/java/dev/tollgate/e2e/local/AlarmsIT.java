package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.MetricAlarm;
import software.amazon.awssdk.services.cloudwatch.model.StateValue;
import software.amazon.awssdk.services.sqs.SqsClient;

/** The alarms of the template are raised by faults, and end after them. */
final class AlarmsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = calm();

  @AutoClose
  private static final CloudWatchClient CLOUD_WATCH =
      DEPLOYMENT.inspect(CloudWatchClient.builder());

  /** A deployment whose schedules do not fire after {@code faults().resume()}. */
  private static LocalDeployment calm() {
    LocalDeployment deployment =
        LocalDeployment.withFaults(
            new FaultPlan(1, Map.of(FaultKind.SCHEDULE_MISSED, 1.0), Map.of(), Map.of()));
    deployment.cloud().faults().pause();
    return deployment;
  }

  private static void minutes(int minutes) throws InterruptedException {
    DEPLOYMENT.advance(Duration.ofMinutes(minutes));
  }

  private static List<MetricAlarm> alarms() {
    return CLOUD_WATCH
        .describeAlarms(request -> request.alarmNamePrefix(DEPLOYMENT.outputs().get("AlarmPrefix")))
        .metricAlarms();
  }

  private static TreeSet<String> raised() {
    TreeSet<String> names = new TreeSet<>();
    for (MetricAlarm alarm : alarms()) {
      if (alarm.stateValue() == StateValue.ALARM) {
        names.add(alarm.alarmName().replace("tollgate-", ""));
      }
    }
    return names;
  }

  /** Passes minutes until no alarm is raised. */
  private static void awaitCalm(int most) throws InterruptedException {
    for (int i = 0; i < most && !raised().isEmpty(); i++) {
      minutes(1);
    }
    assertThat(raised()).isEmpty();
  }

  @Test
  void a_healthy_deployment_raises_no_alarm() throws Exception {
    minutes(31);

    assertThat(alarms()).hasSize(12).allMatch(alarm -> alarm.stateValue() == StateValue.OK);
  }

  @Test
  void a_processor_that_crashes_raises_errors_then_waiting_messages_then_dead_letters()
      throws Exception {
    DEPLOYMENT.onboard("crashing", "silver", "{}");
    Handshake socket = DEPLOYMENT.connect("crashing", DEPLOYMENT.open("crashing"));
    try (Injection crashes =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call -> call.principal().name().equals("PoolProcessor"),
                1_000,
                new Fault.Interrupted(() -> DEPLOYMENT.cloud().kill("PoolProcessor")))) {
      socket.send("{\"action\":\"PooledSQS\",\"id\":\"m\",\"message\":\"hello\"}");
      TreeSet<String> seen = new TreeSet<>();
      for (int i = 0; i < 15 && !raised().contains("dead-letters"); i++) {
        minutes(1);
        seen.addAll(raised());
      }
      assertThat(crashes.count()).isPositive();
      assertThat(seen).contains("dead-letters", "function-errors", "messages-waiting");
    }
    try (SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder())) {
      queues.purgeQueue(
          request ->
              request.queueUrl(
                  queues
                      .getQueueUrl(name -> name.queueName("tollgate_pool_dead.fifo"))
                      .queueUrl()));
    }
    awaitCalm(25);
  }

  @Test
  void work_that_stops_raises_an_alarm_until_it_runs_again() throws Exception {
    DEPLOYMENT.cloud().faults().resume();
    minutes(11);
    DEPLOYMENT.cloud().faults().pause();

    assertThat(raised()).contains("minute-work-stopped");

    awaitCalm(10);
  }

  @Tag("nightly")
  @Test
  void refused_handshakes_raise_an_alarm() throws Exception {
    DEPLOYMENT.onboard("flooded", "gold", "{\"tenantPerMinute\":1}");
    String session = DEPLOYMENT.open("flooded");
    for (int minute = 0; minute < 17; minute++) {
      List<CompletableFuture<Handshake>> handshakes =
          IntStream.range(0, 25)
              .mapToObj(i -> DEPLOYMENT.handshake(LocalDeployment.query("flooded", session)))
              .toList();
      handshakes.forEach(CompletableFuture::join);
      minutes(1);
    }

    assertThat(raised()).contains("refusals");

    awaitCalm(20);
  }
}
