package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.bus.EventBus;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tenants and tiers in trouble, on the engines. */
final class ConditionsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  private static final String LIMITS =
      "\"limits\":{\"tenantPerMinute\":60,\"sessionPerMinute\":600,\"connectionsPerSession\":900,"
          + "\"tenantConnections\":1000,\"sessionTTL\":3600,\"messagesPerMinute\":60}";

  private static long admitted(String tenant, String session, int handshakes) {
    return Stream.generate(
            () -> DEPLOYMENT.handshake(LocalDeployment.query(tenant, session)).join().status())
        .limit(handshakes)
        .filter(status -> status == 101)
        .count();
  }

  /** What happened to a subject, oldest first, without what operators did. */
  private static List<String> seen(String subject) {
    return DEPLOYMENT.cloud().eventBus().events().stream()
        .filter(event -> event.detail().contains("\"" + subject + "\""))
        .map(EventBus.Event::detailType)
        .filter(
            type ->
                type.startsWith("TenantT")
                    || type.startsWith("TenantRecov")
                    || type.equals("LimitNear")
                    || type.equals("RetreatBegun"))
        .toList();
  }

  private static void beginMinute() throws Exception {
    Instant now = DEPLOYMENT.clock().instant();
    DEPLOYMENT.advance(Duration.between(now, now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(62)));
  }

  @Tag("nightly")
  @Test
  void tenant_is_throttled_and_recovers() throws Exception {
    DEPLOYMENT.onboard("stormy", "gold", "{\"tenantPerMinute\":20,\"line\":false}");
    DEPLOYMENT.onboard("calm", "gold", "{}");
    String session = DEPLOYMENT.open("stormy");
    String other = DEPLOYMENT.open("calm");
    beginMinute();
    assertThat(admitted("stormy", session, 40)).isLessThan(30);
    assertThat(admitted("calm", other, 5)).isEqualTo(5);
    DEPLOYMENT.advance(Duration.ofMinutes(3));
    assertThat(seen("tenant/stormy")).containsOnlyOnce("TenantThrottled");

    DEPLOYMENT.advance(Duration.ofMinutes(8));

    assertThat(seen("tenant/stormy")).containsOnlyOnce("TenantThrottled", "TenantRecovered");
    assertThat(seen("tenant/calm")).isEmpty();
  }

  @Tag("nightly")
  @Test
  void tier_stops_to_enforce_limits_that_refuse_too_many() throws Exception {
    DEPLOYMENT.control(
        "PUT",
        "/tiers/strict",
        "{\"isolation\":\"POOL\",\"retreatAbovePercent\":20,\"line\":false," + LIMITS + "}");
    List<String> members = List.of("member", "other");
    members.forEach(member -> DEPLOYMENT.onboard(member, "strict", "{}"));
    List<String> sessions = members.stream().map(DEPLOYMENT::open).toList();
    // What was refused before the tier was so does not count.
    DEPLOYMENT.advance(Duration.ofMinutes(6));
    beginMinute();
    assertThat(admitted("member", sessions.get(0), 130)).isLessThan(100);
    assertThat(admitted("other", sessions.get(1), 130)).isLessThan(100);

    DEPLOYMENT.advance(Duration.ofMinutes(4));

    JsonNode tier = DEPLOYMENT.control("GET", "/tiers/strict").body();
    assertThat(tier.at("/modes/tenantPerMinute").asText()).isEqualTo("OBSERVE");
    assertThat(tier.path("retreatedAt").asText()).isNotEmpty();
    assertThat(seen("tier/strict")).containsExactly("RetreatBegun");
    assertThat(DEPLOYMENT.control("GET", "/audit").body().path("entries").findValuesAsText("by"))
        .contains("tollgate:retreat");
    assertThat(admitted("member", sessions.get(0), 130)).isEqualTo(130);

    DEPLOYMENT.control(
        "PUT",
        "/tiers/strict",
        "{\"isolation\":\"POOL\",\"retreatAbovePercent\":20,\"line\":false," + LIMITS + "}");
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(DEPLOYMENT.control("GET", "/tiers/strict").body().has("modes")).isFalse();
    assertThat(admitted("member", sessions.get(0), 130)).isLessThan(130);
  }
}
