package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FiringTest {
  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");
  private static final String EVERY_MINUTE = "cron(* * * * ? *)";

  private final ManualClock clock = new ManualClock(NOON);
  private final RecordingTargets targets = new RecordingTargets();
  private final Scheduler scheduler = Schedulers.started(clock, targets, Optional.empty());

  @AfterEach
  void close() {
    scheduler.close();
  }

  @Test
  void cron_fires_at_each_due_time_in_order_when_the_clock_jumps() throws Exception {
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    settleAfter(Duration.ofSeconds(59));
    assertThat(targets.calls).isEmpty();
    settleAfter(Duration.ofSeconds(1));
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:01:00Z");
    settleAfter(Duration.ofMinutes(10));
    assertThat(targets.payloads())
        .containsExactlyElementsOf(
            IntStream.rangeClosed(1, 11).mapToObj("2026-03-01T12:%02d:00Z"::formatted).toList());
  }

  @Test
  void the_clock_is_polled_without_anyone_settling() throws Exception {
    CountDownLatch fired = new CountDownLatch(1);
    targets.behaviour =
        call -> {
          fired.countDown();
          return new Targets.Delivered();
        };
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    clock.advance(Duration.ofMinutes(1));
    assertThat(fired.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void rate_fires_at_once_and_then_every_period() throws Exception {
    clock.advance(Duration.ofSeconds(30));
    scheduler.createSchedule("a", Requests.queue("rate(5 minutes)"));
    scheduler.settle();
    settleAfter(Duration.ofMinutes(11));
    assertThat(targets.payloads())
        .containsExactly("2026-03-01T12:00:30Z", "2026-03-01T12:05:30Z", "2026-03-01T12:10:30Z");
  }

  @Test
  void rate_with_a_start_date_fires_first_then_and_stops_before_the_end_date() throws Exception {
    ObjectNode request = Requests.queue("rate(1 hour)");
    request.put("StartDate", "2026-03-01T15:00:00Z").put("EndDate", "2026-03-01T17:00:00Z");
    scheduler.createSchedule("a", request);
    settleAfter(Duration.ofDays(1));
    assertThat(targets.payloads()).containsExactly("2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z");
  }

  @Test
  void cron_keeps_within_start_and_end_date() throws Exception {
    ObjectNode request = Requests.queue("cron(0 * * * ? *)");
    request.put("StartDate", "2026-03-01T15:00:00Z").put("EndDate", "2026-03-01T17:00:00Z");
    scheduler.createSchedule("a", request);
    settleAfter(Duration.ofDays(1));
    assertThat(targets.payloads()).containsExactly("2026-03-01T15:00:00Z", "2026-03-01T16:00:00Z");
  }

  @Test
  void at_fires_once_in_the_zone_of_the_schedule() throws Exception {
    ObjectNode request = Requests.queue("at(2026-03-01T14:30:15)");
    request.put("ScheduleExpressionTimezone", "Europe/Berlin");
    scheduler.createSchedule("a", request);
    settleAfter(Duration.ofDays(400));
    assertThat(targets.payloads()).containsExactly("2026-03-01T13:30:15Z");
    assertThat(scheduler.schedules()).hasSize(1);
  }

  @Test
  void at_in_the_past_never_fires() throws Exception {
    scheduler.createSchedule("a", Requests.queue("at(2026-03-01T11:59:59)"));
    settleAfter(Duration.ofDays(1));
    assertThat(targets.calls).isEmpty();
  }

  @Test
  void action_after_completion_delete_removes_the_schedule_when_its_last_event_is_done()
      throws Exception {
    scheduler.createSchedule(
        "once",
        Requests.retrying(Requests.queue("at(2026-03-01T12:30:00)"), 1, 600)
            .put("ActionAfterCompletion", "DELETE"));
    scheduler.createSchedule(
        "recurring",
        Requests.queue("rate(1 hour)")
            .put("ActionAfterCompletion", "DELETE")
            .put("EndDate", "2026-03-01T13:30:00Z"));
    targets.behaviour = failing(true);
    settleAfter(Duration.ofMinutes(30));
    assertThat(scheduler.schedules()).hasSize(2);
    targets.behaviour = call -> new Targets.Delivered();
    settleAfter(Duration.ofSeconds(1));
    assertThat(scheduler.schedules())
        .extracting(schedule -> schedule.key().name())
        .containsExactly("recurring");
    settleAfter(Duration.ofHours(3));
    assertThat(scheduler.schedules()).isEmpty();
  }

  @Test
  void a_disabled_schedule_does_not_fire_nor_make_up_for_it_when_enabled() throws Exception {
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE).put("State", "DISABLED"));
    settleAfter(Duration.ofMinutes(5));
    scheduler.updateSchedule("a", Requests.queue(EVERY_MINUTE));
    scheduler.settle();
    assertThat(targets.calls).isEmpty();
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:06:00Z");
  }

  @Test
  void update_that_keeps_the_times_loses_no_due_time() throws Exception {
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    clock.advance(Duration.ofMinutes(2));
    scheduler.updateSchedule("a", Requests.queue(EVERY_MINUTE).put("Description", "changed"));
    scheduler.settle();
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z");
  }

  @Test
  void update_changes_the_times() throws Exception {
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    scheduler.updateSchedule("a", Requests.queue("cron(30 * * * ? *)"));
    settleAfter(Duration.ofMinutes(59));
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:30:00Z");
  }

  @Test
  void function_is_invoked_with_context_attributes() throws Exception {
    scheduler.createSchedule(
        "a",
        Requests.target(
            EVERY_MINUTE,
            Requests.FUNCTION,
            "{\"arn\":\"<aws.scheduler.schedule-arn>\",\"at\":\"<aws.scheduler.scheduled-time>\","
                + "\"attempt\":\"<aws.scheduler.attempt-number>\"}"));
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.calls)
        .containsExactly(
            new RecordingTargets.Call(
                Requests.FUNCTION,
                "{\"arn\":\"arn:aws:scheduler:us-east-1:000000000000:schedule/default/a\","
                    + "\"at\":\"2026-03-01T12:01:00Z\",\"attempt\":\"1\"}",
                Optional.empty(),
                Map.of()));
  }

  @Test
  void execution_id_differs_between_attempts_and_attempt_number_counts_them() throws Exception {
    scheduler.createSchedule(
        "a",
        Requests.target(
            EVERY_MINUTE,
            Requests.QUEUE,
            "<aws.scheduler.attempt-number> <aws.scheduler.execution-id>"));
    targets.behaviour = failing(true);
    settleAfter(Duration.ofMinutes(1));
    settleAfter(Duration.ofSeconds(3));
    assertThat(targets.payloads()).hasSize(3).doesNotHaveDuplicates();
    assertThat(targets.payloads().get(2)).matches("3 [0-9a-f]{16}");
  }

  @Test
  void without_input_the_default_notification_is_sent() throws Exception {
    ObjectNode request = Requests.function(EVERY_MINUTE);
    ((ObjectNode) request.get("Target")).remove("Input");
    scheduler.createSchedule("a", request);
    settleAfter(Duration.ofMinutes(1));
    var event = Json.readStrictly(targets.payloads().get(0));
    assertThat(event.path("source").asText()).isEqualTo("aws.scheduler");
    assertThat(event.path("time").asText()).isEqualTo("2026-03-01T12:01:00Z");
    assertThat(event.path("resources").get(0).asText()).endsWith(":schedule/default/a");
  }

  @Test
  void message_group_goes_to_a_fifo_queue() throws Exception {
    ObjectNode request = Requests.target(EVERY_MINUTE, Requests.QUEUE + ".fifo", "body");
    ((ObjectNode) request.get("Target")).putObject("SqsParameters").put("MessageGroupId", "g");
    scheduler.createSchedule("a", request);
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.calls.get(0).messageGroupId()).contains("g");
  }

  @Test
  void a_failed_attempt_is_repeated_with_exponential_backoff_on_the_clock() throws Exception {
    scheduler.createSchedule("a", Requests.queue("at(2026-03-01T12:01:00)"));
    targets.behaviour = failing(true);
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.calls).hasSize(1);
    settleAfter(Duration.ofMillis(999));
    assertThat(targets.calls).hasSize(1);
    settleAfter(Duration.ofMillis(1));
    assertThat(targets.calls).hasSize(2);
    settleAfter(Duration.ofSeconds(2));
    assertThat(targets.calls).hasSize(3);
    settleAfter(Duration.ofSeconds(3));
    assertThat(targets.calls).hasSize(3);
    targets.behaviour = call -> new Targets.Delivered();
    settleAfter(Duration.ofSeconds(1));
    settleAfter(Duration.ofDays(2));
    assertThat(targets.calls).hasSize(4);
  }

  @Test
  void exhausted_attempts_go_to_the_dead_letter_queue() throws Exception {
    scheduler.createSchedule(
        "a", Requests.retrying(Requests.function("at(2026-03-01T12:01:00)"), 2, 600));
    targets.behaviour =
        call ->
            call.arn().equals(Requests.FUNCTION)
                ? new Targets.Failed("TooManyRequestsException", "Rate exceeded", true)
                : new Targets.Delivered();
    settleAfter(Duration.ofMinutes(2));
    assertThat(targets.payloads(Requests.FUNCTION)).hasSize(3);
    var letter = targets.calls.get(3);
    assertThat(letter.arn()).isEqualTo(Requests.DEAD_LETTERS);
    assertThat(Json.readStrictly(letter.payload()))
        .isEqualTo(
            Json.object()
                .put("FunctionName", Requests.FUNCTION)
                .put("InvocationType", "Event")
                .put("Payload", "{\"at\":\"2026-03-01T12:01:00Z\"}"));
    assertThat(letter.attributes())
        .containsEntry("ERROR_CODE", "TooManyRequestsException")
        .containsEntry("ERROR_MESSAGE", "Rate exceeded")
        .containsEntry("EXHAUSTED_RETRY_CONDITION", "MaximumRetryAttempts")
        .containsEntry("IS_PAYLOAD_TRUNCATED", "false")
        .containsEntry("RETRY_ATTEMPTS", "2")
        .containsEntry("SCHEDULED_TIME", "2026-03-01T12:01:00Z")
        .containsEntry(
            "SCHEDULE_ARN", "arn:aws:scheduler:us-east-1:000000000000:schedule/default/a")
        .containsEntry("TARGET_ARN", "arn:aws:scheduler:::aws-sdk:lambda:invoke")
        .containsKey("EXECUTION_ID");
    settleAfter(Duration.ofDays(1));
    assertThat(targets.calls).hasSize(4);
  }

  @Test
  void an_event_that_grows_too_old_goes_to_the_dead_letter_queue() throws Exception {
    scheduler.createSchedule(
        "a", Requests.retrying(Requests.queue("at(2026-03-01T12:01:00)"), 185, 60));
    targets.behaviour = failing(true);
    settleAfter(Duration.ofMinutes(10));
    assertThat(targets.payloads(Requests.QUEUE)).as("at 0, 1, 3, 7, 15 and 31 s").hasSize(6);
    var letter = targets.calls.get(6);
    assertThat(letter.attributes())
        .containsEntry("EXHAUSTED_RETRY_CONDITION", "MaximumEventAgeInSeconds")
        .containsEntry("RETRY_ATTEMPTS", "5");
    assertThat(Json.readStrictly(letter.payload()))
        .isEqualTo(
            Json.object()
                .put("MessageBody", "2026-03-01T12:01:00Z")
                .put("QueueUrl", "https://sqs.us-east-1.amazonaws.com/000000000000/jobs"));
  }

  @Test
  void universal_target_sends_its_input_with_context_attributes_as_a_request() throws Exception {
    scheduler.createSchedule("a", Requests.batch(EVERY_MINUTE));
    targets.behaviour =
        call ->
            targets.calls.size() == 1
                ? new Targets.Failed("RequestThrottled", "slow down", true)
                : new Targets.Delivered();
    settleAfter(Duration.ofMinutes(1));
    settleAfter(Duration.ofSeconds(1));
    assertThat(targets.calls).extracting(call -> call.arn()).containsOnly("sqs.SendMessageBatch");
    assertThat(targets.payloads())
        .containsExactly(
            """
            {"QueueUrl":"https://sqs.us-east-1.amazonaws.com/000000000000/jobs","Entries":[\
            {"Id":"0","MessageBody":"2026-03-01T12:01:00Z"},\
            {"Id":"1","MessageBody":"1","DelaySeconds":6}]}""",
            """
            {"QueueUrl":"https://sqs.us-east-1.amazonaws.com/000000000000/jobs","Entries":[\
            {"Id":"0","MessageBody":"2026-03-01T12:01:00Z"},\
            {"Id":"1","MessageBody":"2","DelaySeconds":6}]}""");
  }

  @Test
  void universal_target_that_fails_isDeadLettered_with_its_arn_and_request() throws Exception {
    scheduler.createSchedule(
        "a", Requests.retrying(Requests.batch("at(2026-03-01T12:01:00)"), 1, 60));
    targets.behaviour = failing(true);
    settleAfter(Duration.ofMinutes(2));
    assertThat(targets.calls).hasSize(3);
    var letter = targets.calls.get(2);
    assertThat(letter.arn()).isEqualTo(Requests.DEAD_LETTERS);
    assertThat(letter.payload()).isEqualTo(targets.calls.get(1).payload());
    assertThat(letter.attributes())
        .containsEntry("TARGET_ARN", Requests.SEND_BATCH)
        .containsEntry("ERROR_CODE", "SomeException")
        .containsEntry("EXHAUSTED_RETRY_CONDITION", "MaximumRetryAttempts")
        .containsEntry("RETRY_ATTEMPTS", "1");
  }

  @Test
  void a_permanent_error_goes_to_the_dead_letter_queue_at_once() throws Exception {
    scheduler.createSchedule(
        "a", Requests.retrying(Requests.queue("at(2026-03-01T12:01:00)"), 185, 60));
    targets.behaviour = failing(false);
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.calls).hasSize(2);
    assertThat(targets.calls.get(1).attributes())
        .containsEntry("RETRY_ATTEMPTS", "0")
        .doesNotContainKey("EXHAUSTED_RETRY_CONDITION");
  }

  @Test
  void a_target_that_throws_counts_as_a_retryable_internal_error() throws Exception {
    scheduler.createSchedule(
        "a", Requests.retrying(Requests.queue("at(2026-03-01T12:01:00)"), 0, 60));
    targets.behaviour =
        call -> {
          throw new IllegalStateException("broken");
        };
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.calls.get(1).attributes())
        .containsEntry("ERROR_CODE", "AWS.Scheduler.InternalServerError")
        .containsEntry("EXHAUSTED_RETRY_CONDITION", "MaximumRetryAttempts");
  }

  @Test
  void a_waiting_retry_does_not_delay_later_events() throws Exception {
    scheduler.createSchedule("a", Requests.retrying(Requests.queue(EVERY_MINUTE), 185, 86_400));
    targets.behaviour =
        call ->
            call.payload().equals("2026-03-01T12:01:00Z")
                ? new Targets.Failed("e", "m", true)
                : new Targets.Delivered();
    settleAfter(Duration.ofMinutes(3));
    assertThat(targets.payloads().stream().distinct())
        .containsExactly("2026-03-01T12:01:00Z", "2026-03-01T12:02:00Z", "2026-03-01T12:03:00Z");
    assertThat(targets.payloads())
        .as("retries are made between the events, as if time had passed")
        .startsWith("2026-03-01T12:01:00Z", "2026-03-01T12:01:00Z")
        .endsWith("2026-03-01T12:03:00Z");
  }

  @Test
  void a_slow_target_delays_no_other_schedule() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch others = new CountDownLatch(5);
    targets.behaviour =
        call -> {
          if (call.arn().equals(Requests.FUNCTION)) {
            await(release);
          } else {
            others.countDown();
          }
          return new Targets.Delivered();
        };
    scheduler.createSchedule("slow", Requests.function(EVERY_MINUTE));
    for (int i = 0; i < 5; i++) {
      scheduler.createSchedule("quick" + i, Requests.queue(EVERY_MINUTE));
    }
    clock.advance(Duration.ofMinutes(1));
    assertThat(others.await(10, TimeUnit.SECONDS)).isTrue();
    release.countDown();
    scheduler.settle();
    assertThat(targets.calls).hasSize(6);
  }

  @Test
  void events_of_one_schedule_never_overlap() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    targets.behaviour =
        call -> {
          most.accumulateAndGet(inside.incrementAndGet(), Math::max);
          inside.decrementAndGet();
          return new Targets.Delivered();
        };
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    settleAfter(Duration.ofMinutes(500));
    assertThat(targets.payloads()).hasSize(500).isSorted();
    assertThat(most).hasValue(1);
  }

  @Test
  void settle_waits_for_an_event_under_way() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    targets.behaviour =
        call -> {
          entered.countDown();
          await(release);
          return new Targets.Failed("done", "slowly", false);
        };
    scheduler.createSchedule("a", Requests.retrying(Requests.queue(EVERY_MINUTE), 0, 60));
    clock.advance(Duration.ofMinutes(1));
    await(entered);
    FutureTask<Void> settle =
        new FutureTask<>(
            () -> {
              scheduler.settle();
              return null;
            });
    Thread settling = new Thread(settle);
    settling.start();
    while (settling.getState() != Thread.State.WAITING && settling.isAlive()) {
      Thread.onSpinWait();
    }
    assertThat(settle).isNotDone();
    release.countDown();
    settle.get();
    assertThat(targets.calls).as("the event and its dead letter").hasSize(2);
  }

  @Test
  void delete_while_an_event_is_under_way_ends_the_schedule_without_a_retry() throws Exception {
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    targets.behaviour =
        call -> {
          entered.countDown();
          await(release);
          return new Targets.Failed("e", "m", true);
        };
    scheduler.createSchedule("a", Requests.queue(EVERY_MINUTE));
    clock.advance(Duration.ofMinutes(3));
    await(entered);
    scheduler.deleteSchedule("default", "a", Optional.empty());
    release.countDown();
    settleAfter(Duration.ofHours(1));
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:01:00Z");
    assertThatThrownBy(() -> scheduler.deleteSchedule("default", "a", Optional.empty()))
        .hasMessage("Schedule a does not exist.");
  }

  @Test
  void a_schedule_that_is_deleted_and_created_again_starts_anew() throws Exception {
    scheduler.createSchedule("a", Requests.queue("rate(1 hour)"));
    scheduler.settle();
    scheduler.deleteSchedule("default", "a", Optional.empty());
    clock.advance(Duration.ofMinutes(10));
    scheduler.createSchedule("a", Requests.queue("rate(1 hour)"));
    settleAfter(Duration.ofHours(1));
    assertThat(targets.payloads())
        .containsExactly("2026-03-01T12:00:00Z", "2026-03-01T12:10:00Z", "2026-03-01T13:10:00Z");
  }

  @Test
  void requests_and_firing_at_the_same_time_keep_every_schedule_in_order() throws Exception {
    var threads =
        IntStream.range(0, 4)
            .mapToObj(
                thread ->
                    new Thread(
                        () -> {
                          Random random = new Random(thread);
                          for (int i = 0; i < 400; i++) {
                            String name = "s-" + thread + "-" + random.nextInt(5);
                            ObjectNode request =
                                Requests.target(
                                    EVERY_MINUTE,
                                    Requests.QUEUE,
                                    name + " <aws.scheduler.scheduled-time>");
                            switch (random.nextInt(3)) {
                              case 0 -> scheduler.putSchedule(name, request);
                              case 1 ->
                                  scheduler.putSchedule(
                                      name, request.put("Description", "changed"));
                              default -> {
                                if (scheduler.schedules().stream()
                                    .anyMatch(s -> s.key().name().equals(name))) {
                                  scheduler.deleteSchedule("default", name, Optional.empty());
                                }
                              }
                            }
                          }
                        }))
            .toList();
    threads.forEach(Thread::start);
    while (threads.stream().anyMatch(Thread::isAlive)) {
      settleAfter(Duration.ofMinutes(1));
    }
    settleAfter(Duration.ofMinutes(1));
    assertThat(targets.payloads()).isNotEmpty().doesNotHaveDuplicates();
    Map<String, List<String>> byName =
        targets.payloads().stream()
            .collect(Collectors.groupingBy(payload -> payload.substring(0, payload.indexOf(' '))));
    byName.forEach((name, payloads) -> assertThat(payloads).as(name).isSorted());
    String last = " " + clock.instant();
    assertThat(targets.payloads().stream().filter(payload -> payload.endsWith(last)))
        .as("every schedule that is left has fired for the last minute")
        .hasSize(scheduler.schedules().size());
  }

  @Test
  @Timeout(180)
  void thousands_of_schedules_a_minute_are_no_trouble() throws Exception {
    ObjectNode request = Requests.queue(EVERY_MINUTE);
    List<String> names = IntStream.range(0, 5_000).mapToObj(i -> "bucket-" + i).toList();
    AtomicInteger count = new AtomicInteger();
    targets.behaviour =
        call -> {
          count.incrementAndGet();
          return new Targets.Delivered();
        };
    names.forEach(name -> scheduler.createSchedule(name, request));
    for (int minute = 1; minute <= 2; minute++) {
      settleAfter(Duration.ofMinutes(1));
      assertThat(count).hasValue(minute * 5_000);
    }
  }

  private void settleAfter(Duration time) throws InterruptedException {
    clock.advance(time);
    scheduler.settle();
  }

  private static Function<RecordingTargets.Call, Targets.Outcome> failing(boolean retryable) {
    return call -> new Targets.Failed("SomeException", "failed", retryable);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(10, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
