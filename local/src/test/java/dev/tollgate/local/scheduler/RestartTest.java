package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.testing.ManualClock;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RestartTest {
  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-01T12:00:30Z"));
  private final RecordingTargets targets = new RecordingTargets();
  @TempDir private Path directory;

  @Test
  void schedules_and_groups_are_as_they_were() {
    List<Schedule> schedules;
    List<Group> groups;
    try (Scheduler scheduler = start()) {
      scheduler.createGroup("g", Map.of("key", "value"), Optional.of("token"));
      scheduler.createGroup("gone", Map.of(), Optional.empty());
      scheduler.createSchedule("a", full("g"));
      scheduler.createSchedule("b", Requests.queue("rate(1 day)"));
      scheduler.createSchedule("c", Requests.queue("rate(1 day)"));
      scheduler.createSchedule("d", Requests.queue("rate(1 day)").put("GroupName", "gone"));
      clock.advance(Duration.ofMillis(1500));
      scheduler.updateSchedule("b", Requests.function("cron(0 0 L * ? *)"));
      scheduler.deleteSchedule("default", "c", Optional.empty());
      scheduler.deleteGroup("gone", Optional.empty());
      schedules = scheduler.schedules();
      groups = scheduler.groups();
      assertThat(schedules).hasSize(2);
    }
    clock.advance(Duration.ofHours(1));
    for (int i = 0; i < 2; i++) {
      try (Scheduler scheduler = start()) {
        assertThat(scheduler.schedules()).isEqualTo(schedules);
        assertThat(scheduler.groups()).isEqualTo(groups);
        scheduler.createGroup("g", Map.of("key", "value"), Optional.of("token"));
        scheduler.createSchedule("a", full("g"));
      }
    }
  }

  @Test
  void a_schedule_goes_on_with_its_next_due_time() throws Exception {
    try (Scheduler scheduler = start()) {
      scheduler.createSchedule("cron", Requests.queue("cron(* * * * ? *)"));
      scheduler.createSchedule("rate", Requests.queue("rate(10 minutes)"));
      scheduler.createSchedule("past", Requests.queue("at(2026-03-01T12:30:00)"));
      scheduler.createSchedule("future", Requests.queue("at(2026-03-01T13:01:15)"));
      scheduler.settle();
    }
    assertThat(targets.payloads()).containsExactly("2026-03-01T12:00:30Z");
    clock.advance(Duration.ofHours(1));
    try (Scheduler scheduler = start()) {
      scheduler.settle();
      assertThat(targets.payloads()).hasSize(1);
      clock.advance(Duration.ofMinutes(1));
      scheduler.settle();
      clock.advance(Duration.ofMinutes(9));
      scheduler.settle();
    }
    assertThat(targets.payloads())
        .hasSize(1 + 10 + 1 + 1)
        .contains("2026-03-01T13:01:00Z", "2026-03-01T13:01:15Z", "2026-03-01T13:10:30Z")
        .doesNotContain("2026-03-01T12:01:00Z", "2026-03-01T12:30:00Z");
  }

  @Test
  void put_brings_a_schedule_about_once() {
    try (Scheduler scheduler = start()) {
      scheduler.putGroup("g", Map.of("a", "1"));
      scheduler.putSchedule("a", full("g"));
    }
    Instant created = clock.instant();
    clock.advance(Duration.ofHours(1));
    try (Scheduler scheduler = start()) {
      scheduler.putGroup("g", Map.of("a", "2"));
      scheduler.putSchedule("a", full("g"));
      assertThat(scheduler.schedules())
          .singleElement()
          .extracting(Schedule::modified)
          .isEqualTo(created);
      assertThat(scheduler.requireGroup("g").tags()).isEqualTo(Map.of("a", "2"));
      scheduler.putSchedule("a", full("g").put("Description", "changed"));
      assertThat(scheduler.schedules())
          .singleElement()
          .extracting(Schedule::modified)
          .isEqualTo(clock.instant());
    }
  }

  @Test
  void a_last_line_that_was_cut_short_is_ignored() throws Exception {
    Path file = directory.resolve("scheduler.jsonl");
    try (Scheduler scheduler = start()) {
      scheduler.createSchedule("a", Requests.queue("rate(1 day)"));
    }
    Files.writeString(file, "{\"schedule\":{\"Name\":\"b", StandardOpenOption.APPEND);
    try (Scheduler scheduler = start()) {
      assertThat(scheduler.schedules()).hasSize(1);
      scheduler.createSchedule("c", Requests.queue("rate(1 day)"));
    }
    try (Scheduler scheduler = start()) {
      assertThat(scheduler.schedules()).hasSize(2);
    }
    Files.writeString(file, "not JSON\n{}\n", StandardOpenOption.APPEND);
    assertThatThrownBy(this::start)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageContaining("scheduler.jsonl:4: not JSON");
  }

  @Test
  void the_journal_is_compacted_on_start() throws Exception {
    try (Scheduler scheduler = start()) {
      scheduler.createSchedule("a", Requests.queue("rate(1 day)"));
      for (int i = 0; i < 100; i++) {
        scheduler.updateSchedule("a", Requests.queue("rate(1 day)").put("Description", "d" + i));
      }
    }
    start().close();
    assertThat(Files.readAllLines(directory.resolve("scheduler.jsonl")))
        .as("the default group and the schedule")
        .hasSize(2);
  }

  /** A process that is killed without warning has kept all that it has answered. */
  @Test
  void what_a_killed_process_has_answered_is_kept() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                directory.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var output = process.inputReader()) {
      assertThat(output.readLine()).isEqualTo("created 500");
    } finally {
      process.destroyForcibly();
      assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    }
    try (Scheduler scheduler = start()) {
      assertThat(scheduler.schedules()).hasSizeGreaterThanOrEqualTo(500);
    }
  }

  /** Creates schedules until it is killed. */
  static final class Victim {
    private Victim() {}

    public static void main(String[] arguments) {
      Scheduler scheduler =
          Schedulers.started(
              InstantSource.system(), new RecordingTargets(), Optional.of(Path.of(arguments[0])));
      for (int i = 1; ; i++) {
        scheduler.createSchedule("schedule-" + i, Requests.queue("cron(0 0 1 1 ? *)"));
        if (i == 500) {
          System.out.println("created 500");
        }
      }
    }
  }

  private static ObjectNode full(String group) {
    ObjectNode request = Requests.retrying(Requests.queue("cron(0 9 ? * MON *)"), 3, 600);
    request
        .putObject("FlexibleTimeWindow")
        .put("Mode", "FLEXIBLE")
        .put("MaximumWindowInMinutes", 5);
    return request
        .put("GroupName", group)
        .put("ClientToken", "token")
        .put("Description", "what for, \"quoted\"\nand more")
        .put("ScheduleExpressionTimezone", "Europe/Berlin")
        .put("StartDate", "2026-03-01T12:00:00.125Z")
        .put("EndDate", "2027-03-01T12:00:00Z")
        .put("State", "DISABLED");
  }

  private Scheduler start() {
    return Schedulers.started(clock, targets, Optional.of(directory));
  }
}
