package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Sessions that are refused wait in line, and come back once. */
final class LineIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  private static List<String> sessions(String tenant, int count) {
    return Stream.generate(() -> DEPLOYMENT.open(tenant)).limit(count).toList();
  }

  private static JsonNode admission(String tenant, String session) {
    return DEPLOYMENT.session("GET", Deployment.query(tenant, session)).body().get("admission");
  }

  private static Instant slot(String tenant, String session) {
    return Instant.parse(admission(tenant, session).get("nextAttemptAt").asText());
  }

  /** Opens as many connections as the bucket has tokens. */
  private static void drain(String tenant) throws InterruptedException {
    for (Handshake admitted : DEPLOYMENT.connectAll(30, tenant, sessions(tenant, 30))) {
      assertThat(admitted.status()).isEqualTo(101);
    }
    DEPLOYMENT.cloud().settle();
  }

  @Test
  void concurrent_refusals_get_a_slot_each_and_are_admitted_then() throws Exception {
    String tenant = "in-line";
    DEPLOYMENT.onboard(tenant, "gold", "{\"tenantPerMinute\":30,\"tenantConnections\":100}");
    drain(tenant);
    List<String> waiting = sessions(tenant, 40);

    for (Handshake refused : DEPLOYMENT.connectAll(40, tenant, waiting)) {
      assertThat(refused.status()).isEqualTo(429);
    }
    DEPLOYMENT.cloud().settle();

    Map<Instant, String> bySlot = new TreeMap<>(Comparator.naturalOrder());
    waiting.forEach(session -> bySlot.put(slot(tenant, session), session));
    assertThat(bySlot).as("no slot is given twice").hasSize(40);
    Instant first = bySlot.keySet().iterator().next();
    int place = 0;
    for (Map.Entry<Instant, String> next : bySlot.entrySet()) {
      assertThat(next.getKey()).isEqualTo(first.plus(INTERVAL.multipliedBy(place)));
      DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), next.getKey()));
      DEPLOYMENT.cloud().settle();
      DEPLOYMENT.cloud().requests().clear();
      int status = DEPLOYMENT.connect(tenant, next.getValue()).status();
      assertThat(status)
          .withFailMessage(
              () ->
                  "%s at the first return of its slot %s, now %s. %s %s. Requests: %s"
                      .formatted(
                          status,
                          next.getKey(),
                          DEPLOYMENT.clock().instant(),
                          admission(tenant, next.getValue()),
                          shown(tenant),
                          DEPLOYMENT.cloud().requests().list()))
          .isEqualTo(101);
      place++;
    }
  }

  @Test
  void session_that_comes_early_or_late_and_a_new_one_wait_for_their_turn() throws Exception {
    String tenant = "impatient";
    DEPLOYMENT.onboard(tenant, "gold", "{\"tenantPerMinute\":30,\"tenantConnections\":100}");
    drain(tenant);
    String first = DEPLOYMENT.open(tenant);
    String second = DEPLOYMENT.open(tenant);
    assertThat(DEPLOYMENT.connect(tenant, first).status()).isEqualTo(429);
    assertThat(DEPLOYMENT.connect(tenant, second).status()).isEqualTo(429);
    Instant slot = slot(tenant, second);
    assertThat(admission(tenant, first).get("ahead").asInt()).isZero();
    assertThat(admission(tenant, second).get("ahead").asInt()).isEqualTo(1);

    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), slot.minusMillis(251)));
    DEPLOYMENT.cloud().settle();

    assertThat(DEPLOYMENT.connect(tenant, second).status()).as("too early").isEqualTo(429);
    assertThat(slot(tenant, second)).isEqualTo(slot);
    assertThat(DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant)).status())
        .as("new, behind both")
        .isEqualTo(429);
    DEPLOYMENT.advance(Duration.ofMillis(251));
    assertThat(DEPLOYMENT.connect(tenant, first).status()).as("late").isEqualTo(101);
    assertThat(DEPLOYMENT.connect(tenant, second).status()).as("in time").isEqualTo(101);
    assertThat(DEPLOYMENT.connect(tenant, first).status()).as("place used up").isEqualTo(429);
  }

  private static JsonNode shown(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant, "").body();
  }

  private static JsonNode line(JsonNode tenant) {
    return tenant.get("buckets").get(0).path("line");
  }

  private static Instant refused(String tenant, String session) {
    assertThat(DEPLOYMENT.connect(tenant, session).status()).isEqualTo(429);
    return slot(tenant, session);
  }

  @Test
  @Tag("nightly")
  void operators_see_a_line_clear_it_and_switch_it_off_and_on() throws Exception {
    String tenant = "steered";
    DEPLOYMENT.onboard(tenant, "gold", "{\"tenantPerMinute\":30,\"tenantConnections\":100}");
    drain(tenant);
    List<String> waiting = sessions(tenant, 5);
    Instant first = refused(tenant, waiting.get(0));
    for (int i = 1; i < 5; i++) {
      assertThat(refused(tenant, waiting.get(i))).isEqualTo(first.plus(INTERVAL.multipliedBy(i)));
    }
    long wait = Duration.between(DEPLOYMENT.clock().instant(), first.plusSeconds(10)).toSeconds();
    assertThat(line(shown(tenant)).get("length").asInt()).isEqualTo(5);
    assertThat(line(shown(tenant)).get("waitSeconds").asLong()).isBetween(wait, wait + 1);

    JsonNode cleared = DEPLOYMENT.control("DELETE", "/tenants/" + tenant + "/line", "").body();
    assertThat(line(cleared).toString()).isEqualTo("{\"length\":0,\"waitSeconds\":0}");
    assertThat(refused(tenant, waiting.get(4))).as("a new place, the first").isEqualTo(first);
    assertThat(refused(tenant, waiting.get(0))).isEqualTo(first.plus(INTERVAL));
    assertThat(line(shown(tenant)).get("length").asInt()).isEqualTo(2);

    JsonNode off = changed(tenant, ",\"line\":false");
    assertThat(off.get("line").asBoolean()).isFalse();
    assertThat(line(off).isMissingNode()).isTrue();
    assertThat(refused(tenant, waiting.get(1))).as("all are told the next token").isEqualTo(first);
    assertThat(refused(tenant, waiting.get(0))).isEqualTo(first);
    assertThat(admission(tenant, waiting.get(0)).has("ahead")).isFalse();
    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), first));
    DEPLOYMENT.cloud().settle();
    assertThat(DEPLOYMENT.connect(tenant, waiting.get(1)).status())
        .as("whoever is first")
        .isEqualTo(101);

    assertThat(line(changed(tenant, "")).get("length").asInt()).isZero();
    Instant next = refused(tenant, waiting.get(2));
    assertThat(refused(tenant, waiting.get(0))).as("a place behind").isEqualTo(next.plus(INTERVAL));
    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), next));
    DEPLOYMENT.cloud().settle();
    assertThat(DEPLOYMENT.connect(tenant, waiting.get(2)).status()).isEqualTo(101);
  }

  @Test
  void a_new_session_takes_the_place_of_one_that_ended() throws Exception {
    String tenant = "left";
    DEPLOYMENT.onboard(tenant, "gold", "{\"tenantPerMinute\":30,\"tenantConnections\":100}");
    drain(tenant);
    List<String> waiting = sessions(tenant, 3);
    Instant first = refused(tenant, waiting.get(0));
    Instant second = refused(tenant, waiting.get(1));
    Instant third = refused(tenant, waiting.get(2));

    String ended = Deployment.query(tenant, waiting.get(1));
    assertThat(DEPLOYMENT.session("DELETE", ended).status()).isEqualTo(204);

    assertThat(refused(tenant, DEPLOYMENT.open(tenant))).isEqualTo(second);
    assertThat(refused(tenant, DEPLOYMENT.open(tenant))).isEqualTo(third.plus(INTERVAL));
    assertThat(slot(tenant, waiting.get(0))).isEqualTo(first);
    assertThat(slot(tenant, waiting.get(2))).isEqualTo(third);
  }

  private static JsonNode changed(String tenant, String overrides) {
    return DEPLOYMENT
        .control(
            "PATCH",
            "/tenants/" + tenant,
            "{\"overrides\":{\"tenantPerMinute\":30,\"tenantConnections\":100" + overrides + "}}")
        .body();
  }
}
