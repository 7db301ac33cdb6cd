package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Browser;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The switch that lifts all limits, on the engines. */
final class AdmitAllIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final Duration FOLLOWED = Duration.ofSeconds(5);
  private static final String HEADER = "tollgate-admit-all";

  /** Passes the time to the beginning of a minute, so that no bucket is filled soon. */
  @BeforeEach
  void beginMinute() throws Exception {
    Instant now = DEPLOYMENT.clock().instant();
    Instant next = now.truncatedTo(ChronoUnit.MINUTES).plusSeconds(62);
    DEPLOYMENT.advance(Duration.between(now, next));
  }

  @AfterEach
  void enforce() throws Exception {
    turnOff();
  }

  private static JsonNode turnOn(int minutes) throws Exception {
    Answer answer =
        DEPLOYMENT.control(
            "PUT",
            "/admit-all",
            "{\"reason\":\"a <b>test</b>\",\"minutes\":%d}".formatted(minutes));
    assertThat(answer.status()).isEqualTo(200);
    DEPLOYMENT.advance(FOLLOWED);
    return answer.body();
  }

  private static void turnOff() throws Exception {
    assertThat(DEPLOYMENT.control("DELETE", "/admit-all").status()).isEqualTo(200);
    DEPLOYMENT.advance(FOLLOWED);
  }

  private static void connects(String tenant, String session, Integer... statuses) {
    for (int status : statuses) {
      assertThat(DEPLOYMENT.connect(tenant, session).status()).as(tenant).isEqualTo(status);
    }
  }

  private static int connections(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body().path("connections").asInt();
  }

  @Test
  @Tag("nightly")
  void the_operators_page_shows_it() throws Exception {
    try (Browser browser = Browser.open()) {
      browser.go(DEPLOYMENT.outputs().getOrDefault("OperatorPage", ""));
      turnOn(60);
      browser.awaitText(
          "#lifted",
          text ->
              text.startsWith("All limits are lifted until ") && text.endsWith(": a <b>test</b>"));
      turnOff();
      browser.await("the banner is gone", () -> !browser.find("#lifted").isDisplayed());
    }
  }

  @Test
  void limits_on_handshakes_are_lifted_and_come_back() throws Exception {
    DEPLOYMENT.onboard("slow", "bronze", "{\"tenantPerMinute\":1,\"line\":false}");
    DEPLOYMENT.onboard("waiting", "bronze", "{\"tenantPerMinute\":1}");
    DEPLOYMENT.onboard("full", "gold", "{\"connectionsPerSession\":1}");
    DEPLOYMENT.onboard("crowded", "gold", "{\"tenantConnections\":1}");
    DEPLOYMENT.onboard("hasty", "gold", "{\"sessionPerMinute\":1}");
    List<String> limited = List.of("slow", "waiting", "full", "crowded", "hasty");
    List<String> sessions = limited.stream().map(DEPLOYMENT::open).toList();
    for (int i = 0; i < sessions.size(); i++) {
      connects(limited.get(i), sessions.get(i), 101, 429, 429);
    }

    turnOn(60);
    for (int i = 0; i < sessions.size(); i++) {
      connects(limited.get(i), sessions.get(i), 101, 101);
    }
    for (String tenant : limited) {
      assertThat(connections(tenant)).as(tenant).isEqualTo(3);
    }

    turnOff();
    for (int i = 0; i < sessions.size(); i++) {
      connects(limited.get(i), sessions.get(i), 429);
    }
    for (String tenant : limited) {
      assertThat(connections(tenant)).as(tenant).isEqualTo(3);
    }
  }

  /** Their authorizers see no connection yet, so that only {@code $connect} finds the limit. */
  @Tag("nightly")
  @Test
  void concurrent_handshakes_are_admitted_over_the_limit() throws Exception {
    DEPLOYMENT.onboard("stormy", "gold", "{\"tenantConnections\":2}");
    String query = LocalDeployment.query("stormy", DEPLOYMENT.open("stormy"));
    turnOn(60);

    List<CompletableFuture<Handshake>> storm =
        Stream.generate(() -> DEPLOYMENT.handshake(query)).limit(9).toList();

    assertThat(storm).map(each -> each.join().status()).containsOnly(101);
    assertThat(connections("stormy")).isEqualTo(9);
  }

  @Test
  void unknown_sessions_and_suspended_tenants_stay_refused() throws Exception {
    DEPLOYMENT.onboard("known", "bronze", "{}");
    DEPLOYMENT.onboard("suspended", "bronze", "{}");
    String session = DEPLOYMENT.open("suspended");
    DEPLOYMENT.control("PATCH", "/tenants/suspended", "{\"status\":\"SUSPENDED\"}");

    turnOn(60);

    connects("known", "0".repeat(32), 403, 403);
    connects("suspended", session, 403, 403);
    connects("nobody", session, 403, 403);
    assertThat(DEPLOYMENT.session("PUT", "?tenantId=suspended").status()).isNotEqualTo(201);
  }

  @Tag("nightly")
  @Test
  void sessions_are_created_beyond_the_rate_of_their_tenant() throws Exception {
    DEPLOYMENT.onboard("creator", "bronze", "{\"tenantPerMinute\":1}");
    int rate = createdUntilRefused("creator");
    assertThat(rate).isBetween(1, 20);

    turnOn(60);
    for (int i = 0; i < 2 * rate; i++) {
      DEPLOYMENT.open("creator");
    }

    turnOff();
    assertThat(createdUntilRefused("creator")).isLessThanOrEqualTo(rate);
  }

  private static int createdUntilRefused(String tenant) {
    for (int created = 0; created < 100; created++) {
      int status = DEPLOYMENT.session("PUT", "?tenantId=" + tenant).status();
      if (status == 429) {
        return created;
      }
      assertThat(status).isEqualTo(201);
    }
    throw new AssertionError("100 sessions were created");
  }

  @Tag("nightly")
  @Test
  void messages_need_no_tokens() throws Exception {
    for (String tier : List.of("bronze", "gold")) {
      String tenant = "chatty-" + tier;
      String route = tier.equals("gold") ? "SiloSQS" : "PooledSQS";
      DEPLOYMENT.onboard(tenant, tier, "{\"messagesPerMinute\":2,\"line\":false}");
      Handshake client = DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant));
      send(client, route, 0, 3);
      client.frames().await("reply", 2);
      assertThat(client.frames().await("error", 1).get(0).path("code").asText())
          .isEqualTo("THROTTLED");

      turnOn(60);
      send(client, route, 3, 13);
      client.frames().await("reply", 12);
      assertThat(client.frames().of("error")).hasSize(1);

      turnOff();
      send(client, route, 13, 14);
      client.frames().await("error", 2);
      assertThat(client.frames().of("reply")).hasSize(12);
      DEPLOYMENT.close(client);
    }
  }

  private static void send(Handshake client, String route, int from, int to) {
    for (int i = from; i < to; i++) {
      client.send("{\"action\":\"%s\",\"id\":\"m-%d\",\"message\":1}".formatted(route, i));
    }
  }

  @Test
  void tenants_are_admitted_while_sqs_fails() throws Exception {
    Answer tier =
        DEPLOYMENT.control(
            "PUT",
            "/tiers/strict",
            """
            {"tier": "strict", "isolation": "POOL", "onUnavailable": "REFUSE",
             "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                        "tenantConnections": 100, "sessionTTL": 3600, "messagesPerMinute": 60}}""");
    assertThat(tier.status()).isEqualTo(201);
    DEPLOYMENT.onboard("strict", "strict", "{}");
    String session = DEPLOYMENT.open("strict");
    connects("strict", session, 101);
    try (Injection down =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call ->
                    call.service().equals("sqs")
                        && List.of("Authorizer", "AuthorizerTenant", "Connect", "ConnectTenant")
                            .contains(call.principal().name()),
                Integer.MAX_VALUE,
                new Fault.Refused(500, "InternalFailure", "refused by the test"))) {
      assertThat(DEPLOYMENT.connect("strict", session).status()).isNotEqualTo(101);
      assertThat(down.count()).isPositive();

      turnOn(60);
      connects("strict", session, 101, 101);
      turnOff();
      assertThat(DEPLOYMENT.connect("strict", session).status()).isNotEqualTo(101);
    }
    assertThat(connections("strict")).isEqualTo(3);
  }

  @Tag("nightly")
  @Test
  void an_admission_claims_no_token_and_reads_the_switch_every_five_seconds() throws Exception {
    DEPLOYMENT.onboard("frugal", "bronze", "{\"tenantPerMinute\":1}");
    String session = DEPLOYMENT.open("frugal");
    connects("frugal", session, 101, 429);
    turnOn(60);
    connects("frugal", session, 101);

    assertThat(authorizer(session)).containsExactly("BatchGetItem");
    DEPLOYMENT.advance(FOLLOWED);
    assertThat(authorizer(session)).containsExactly("BatchGetItem", "GetItem");
  }

  private static List<String> authorizer(String session) throws Exception {
    return DEPLOYMENT.requestsOf(() -> connects("frugal", session, 101)).stream()
        .filter(request -> request.principal().name().startsWith("Authorizer"))
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .map(Request::operation)
        .sorted()
        .toList();
  }

  @Tag("nightly")
  @Test
  void it_ends_by_itself() throws Exception {
    DEPLOYMENT.onboard("patient", "gold", "{\"connectionsPerSession\":1}");
    String session = DEPLOYMENT.open("patient");
    connects("patient", session, 101, 429);

    JsonNode on = turnOn(1);
    connects("patient", session, 101);
    Answer tiers = DEPLOYMENT.control("GET", "/tiers");
    assertThat(tiers.header(HEADER)).isEqualTo("until=" + on.path("until").asText());
    assertThat(on.path("by").asText()).startsWith("arn:aws:iam::");
    assertThat(DEPLOYMENT.control("GET", "/admit-all").body()).isEqualTo(on);

    DEPLOYMENT.advance(Duration.ofMinutes(1).minus(FOLLOWED));
    connects("patient", session, 429);
    assertThat(DEPLOYMENT.control("GET", "/tiers").header(HEADER)).isEqualTo("none");
    assertThat(DEPLOYMENT.control("GET", "/admit-all").body().toString())
        .isEqualTo("{\"on\":false}");
  }
}
