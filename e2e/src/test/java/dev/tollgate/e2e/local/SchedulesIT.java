package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;

/** Windows of a tier and of a tenant open and close on the engines, when the clock gets there. */
final class SchedulesIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final String TIER =
      """
      {"isolation": "POOL",
       "limits": {"tenantPerMinute": 20, "sessionPerMinute": 30, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60},
       "buckets": {"send-email": {"refill": {"every": "DAY", "at": "00:00",
                   "zone": "Europe/Berlin"}, "capacity": 100}}}""";

  private static String window(int factor, Instant from, Instant to) {
    return """
        {"factor": %d, "from": "%s", "to": "%s", "zone": "%s"}"""
        .formatted(
            factor,
            LocalDateTime.ofInstant(from, BERLIN),
            LocalDateTime.ofInstant(to, BERLIN),
            BERLIN);
  }

  private static JsonNode tenant(String id) {
    return DEPLOYMENT.control("GET", "/tenants/" + id).body();
  }

  private static List<String> limits(String id) {
    JsonNode tenant = tenant(id);
    List<String> limits = new ArrayList<>();
    limits.add(tenant.at("/limits/tenantPerMinute").asText());
    limits.add(tenant.at("/limits/tenantConnections").asText());
    tenant.path("buckets").forEach(bucket -> limits.add(bucket.path("capacity").asText()));
    return limits;
  }

  private static List<String> schedules(SchedulerClient scheduler) {
    return scheduler
        .listSchedulesPaginator(request -> request.namePrefix("limit."))
        .schedules()
        .stream()
        .map(ScheduleSummary::name)
        .map(name -> name.replaceAll("\\.[0-9a-z]+\\.(open|close)$", " $1"))
        .sorted()
        .toList();
  }

  private static List<String> findings(String method, String path) {
    List<String> findings = new ArrayList<>();
    String cursor = "";
    do {
      JsonNode page = DEPLOYMENT.control(method, path + cursor).body();
      page.path("findings")
          .forEach(
              each -> {
                if (!each.path("resource").asText().equals("quota")) {
                  findings.add(each.path("resource").asText());
                }
              });
      cursor = page.has("next") ? "?cursor=" + page.path("next").asText() : "";
    } while (!cursor.isEmpty());
    return findings;
  }

  private static List<String> audit() {
    JsonNode entries = DEPLOYMENT.control("GET", "/audit?limit=100").body().path("entries");
    return StreamSupport.stream(entries.spliterator(), false)
        .filter(each -> each.path("what").asText().matches("LimitsScheduled|Window.*|Schedule.*"))
        .map(each -> each.path("subject").asText() + " " + each.path("what").asText())
        .toList();
  }

  @Test
  void windows_open_and_close_at_their_times() throws Exception {
    assertThat(DEPLOYMENT.control("PUT", "/tiers/sale", TIER).status()).isEqualTo(201);
    DEPLOYMENT.onboard("shop", "sale", "{}");
    DEPLOYMENT.onboard("stall", "sale", "{}");
    Instant now = DEPLOYMENT.clock().instant().truncatedTo(ChronoUnit.MINUTES);
    Instant opens = now.plus(Duration.ofMinutes(2));
    Instant closes = now.plus(Duration.ofMinutes(4));
    Answer scheduled =
        DEPLOYMENT.control("POST", "/tiers/sale/schedules", window(2, opens, closes));
    assertThat(scheduled.status()).as("%s", scheduled).isEqualTo(201);
    Answer own = DEPLOYMENT.control("POST", "/tenants/stall/schedules", window(3, opens, closes));
    assertThat(own.status()).as("%s", own).isEqualTo(201);

    try (SchedulerClient scheduler = DEPLOYMENT.inspect(SchedulerClient.builder())) {
      List<String> all =
          Stream.of("tenant.stall", "tier.sale")
              .flatMap(owner -> Stream.of(owner + " close", owner + " open"))
              .map(name -> "limit." + name)
              .toList();
      assertThat(schedules(scheduler)).isEqualTo(all);
      ScheduleSummary lost =
          scheduler.listSchedules(request -> request.namePrefix("limit.tier")).schedules().get(0);
      scheduler.deleteSchedule(request -> request.groupName(lost.groupName()).name(lost.name()));
      assertThat(findings("GET", "/drift")).containsExactly("window-schedule");
      assertThat(findings("POST", "/repairs")).containsExactly("window-schedule");
      assertThat(schedules(scheduler)).isEqualTo(all);
      assertThat(limits("shop")).containsExactly("20", "10", "20", "60", "100");

      DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), opens.plusSeconds(5)));
      assertThat(limits("shop")).containsExactly("40", "20", "40", "120", "200");
      assertThat(limits("stall")).containsExactly("60", "30", "60", "180", "300");
      assertThat(tenant("shop").path("tierSchedules").findValuesAsText("open"))
          .containsExactly("true");
      assertThat(findings("GET", "/drift")).isEmpty();
      assertThat(schedules(scheduler))
          .containsExactly("limit.tenant.stall close", "limit.tier.sale close");

      String id = own.body().path("id").asText();
      assertThat(DEPLOYMENT.control("DELETE", "/tenants/stall/schedules/" + id).status())
          .isEqualTo(204);
      assertThat(limits("stall")).containsExactly("40", "20", "40", "120", "200");

      DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), closes.plusSeconds(5)));
      assertThat(limits("shop")).containsExactly("20", "10", "20", "60", "100");
      assertThat(limits("stall")).containsExactly("20", "10", "20", "60", "100");
      assertThat(schedules(scheduler)).isEmpty();
      assertThat(audit())
          .containsExactlyInAnyOrder(
              "tier/sale LimitsScheduled",
              "tenant/stall LimitsScheduled",
              "tier/sale WindowOpened",
              "tenant/stall WindowOpened",
              "tenant/stall ScheduleCancelled",
              "tier/sale WindowClosed");
    }
  }
}
