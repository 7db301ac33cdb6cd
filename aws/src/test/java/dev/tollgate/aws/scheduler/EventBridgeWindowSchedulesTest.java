package dev.tollgate.aws.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.TierName;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings of the schedules that open and close windows. */
class EventBridgeWindowSchedulesTest extends ScriptedAdapters {
  private WindowSchedules windows() {
    Map<String, String> environment = services.environment();
    environment.put("SWEEP_ARN", "arn:aws:lambda:us-east-1:000000000000:function:Sweep:live");
    return new AwsEnvironment(environment, clock, line -> {}).windowSchedules().orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "2026-11-27T18:00, 2026-11-28T02:00, at(2026-11-27T18:00:00), Europe/Berlin,"
        + " at(2026-11-28T02:00:00), Europe/Berlin",
    // The first time does not exist, and the second one exists twice.
    "2026-03-29T02:30, 2026-10-25T02:30, at(2026-03-29T03:30:00), Europe/Berlin,"
        + " at(2026-10-25T00:30:00), UTC"
  })
  void schedule_fires_at_the_end_of_a_window_and_deletes_itself(
      String from, String to, String opens, String openZone, String closes, String closeZone) {
    LimitSchedule window = LimitSchedule.of(BigDecimal.valueOf(2), from, to, "Europe/Berlin");

    windows().put(Subject.tier(new TierName("gold")), window, Instant.EPOCH);

    String path = "/schedules/limit.tier.gold.";
    JsonNode open = body(path + minute(window.opensAt()) + ".open");
    JsonNode close = body(path + minute(window.closesAt()) + ".close");
    assertThat(List.of(open, close))
        .allMatch(body -> body.path("ActionAfterCompletion").asText().equals("DELETE"))
        .allMatch(body -> body.at("/Target/Arn").asText().endsWith(":Sweep:live"))
        .allMatch(
            body ->
                body.at("/Target/Input")
                    .asText()
                    .equals(
                        "{\"windowsOf\":\"tier/gold\",\"scheduledTime\":\"<aws.scheduler.scheduled-time>\"}"));
    assertThat(open.path("ScheduleExpression").asText()).isEqualTo(opens);
    assertThat(open.path("ScheduleExpressionTimezone").asText()).isEqualTo(openZone);
    assertThat(close.path("ScheduleExpression").asText()).isEqualTo(closes);
    assertThat(close.path("ScheduleExpressionTimezone").asText()).isEqualTo(closeZone);
  }

  private static String minute(Instant at) {
    return Long.toString(at.getEpochSecond() / 60, 36);
  }

  private JsonNode body(String path) {
    return json(services.requests("POST " + path).get(0).body());
  }

  @Test
  void name_of_a_schedule_is_not_too_long() {
    LimitSchedule window =
        LimitSchedule.of(BigDecimal.valueOf(2), "9999-11-27T18:00", "9999-11-28T02:00", "UTC");
    windows().put(Subject.tenant(new TenantId("a".repeat(36))), window, Instant.EPOCH);
    windows().put(Subject.tier(new TierName("a".repeat(32))), window, Instant.EPOCH);

    assertThat(services.operations())
        .hasSize(4)
        .allMatch(post -> post.replace("POST /schedules/", "").matches("[0-9a-zA-Z-_.]{1,64}"));
  }

  @Test
  void only_the_function_that_answers_operators_has_these_schedules() {
    assertThat(aws.windowSchedules()).isEmpty();
  }
}
