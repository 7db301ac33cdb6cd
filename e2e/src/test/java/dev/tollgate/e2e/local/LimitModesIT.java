package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Limits that are observed or off, on the engines. */
final class LimitModesIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** Passes the time to the beginning of a minute, so that no bucket is filled soon. */
  @BeforeEach
  void beginMinute() throws Exception {
    Instant now = DEPLOYMENT.clock().instant();
    Instant next = now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(62);
    DEPLOYMENT.advance(Duration.between(now, next));
  }

  private static void connects(String tenant, String session, Integer... statuses) {
    for (int status : statuses) {
      assertThat(DEPLOYMENT.connect(tenant, session).status()).as(tenant).isEqualTo(status);
    }
  }

  @Test
  void observed_limits_refuse_nobody_and_tell_whom_they_would_have_refused() throws Exception {
    String modes = "\"modes\":{\"%s\":\"OBSERVE\"}";
    DEPLOYMENT.onboard(
        "slow", "bronze", "{\"tenantPerMinute\":1," + modes.formatted("tenantPerMinute") + "}");
    DEPLOYMENT.onboard(
        "full",
        "gold",
        "{\"connectionsPerSession\":1," + modes.formatted("connectionsPerSession") + "}");
    DEPLOYMENT.onboard(
        "crowded",
        "gold",
        "{\"tenantConnections\":1," + modes.formatted("tenantConnections") + "}");
    DEPLOYMENT.onboard(
        "hasty", "gold", "{\"sessionPerMinute\":1," + modes.formatted("sessionPerMinute") + "}");
    for (String tenant : List.of("slow", "full", "crowded", "hasty")) {
      connects(tenant, DEPLOYMENT.open(tenant), 101, 101);
      JsonNode report = DEPLOYMENT.control("GET", "/tenants/" + tenant).body();
      assertThat(report.path("connections").asInt()).as(tenant).isEqualTo(2);
      assertThat(report.path("refused").asInt()).as(tenant).isZero();
    }
    DEPLOYMENT.advance(Duration.ofMinutes(2));

    JsonNode steps = DEPLOYMENT.control("GET", "/fleet?step=1d").body().path("steps");
    assertThat(steps.path(0).path("wouldRefuseFor").propertyStream().map(Object::toString))
        .containsExactlyInAnyOrder(
            "TENANT_RATE=1", "SESSION_CONNECTIONS=1", "TENANT_CONNECTIONS=1", "SESSION_RATE=1");
    assertThat(
            DEPLOYMENT
                .control("GET", "/fleet/tenants?sort=would_refuse&window=15m")
                .body()
                .path("tenants")
                .findValuesAsText("tenantId"))
        .containsExactly("crowded", "full", "hasty", "slow");
  }

  @Test
  void modes_follow_the_tier_and_come_back() throws Exception {
    String tier =
        """
        {"isolation":"POOL","limits":{"tenantPerMinute":1,"sessionPerMinute":60,
         "connectionsPerSession":9,"tenantConnections":90,"sessionTTL":300,"messagesPerMinute":60}%s}
        """;
    DEPLOYMENT.control(
        "PUT", "/tiers/tried", tier.formatted(",\"modes\":{\"tenantPerMinute\":\"OFF\"}"));
    DEPLOYMENT.onboard("member", "tried", "{}");
    String session = DEPLOYMENT.open("member");
    connects("member", session, 101, 101, 101);

    Answer enforced = DEPLOYMENT.control("PUT", "/tiers/tried", tier.formatted(""));
    assertThat(enforced.status()).isIn(200, 202);
    DEPLOYMENT.advance(Duration.ofSeconds(61));

    assertThat(DEPLOYMENT.control("GET", "/tenants/member").body().has("modes")).isFalse();
    connects("member", session, 101, 429);
  }

  @Test
  void modes_that_a_limit_may_not_have_are_refused() {
    Answer answer =
        DEPLOYMENT.control(
            "POST",
            "/tenants",
            """
            {"tenantId":"wrong","tier":"bronze",
             "overrides":{"modes":{"sessionsPerSubject":"OBSERVE"}}}
            """);
    assertThat(answer.status()).isEqualTo(400);
    assertThat(answer.body().path("errors").path(0).path("field").asText())
        .isEqualTo("overrides.modes.sessionsPerSubject");
    assertThat(answer.body().path("errors").path(0).path("expected").asText())
        .isEqualTo("ENFORCE or OFF");
    assertThat(DEPLOYMENT.control("GET", "/tenants/wrong").status()).isEqualTo(404);
  }
}
