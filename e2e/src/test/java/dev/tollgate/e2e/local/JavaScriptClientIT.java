package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Browser;
import dev.tollgate.e2e.acceptance.Deployment;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The client for browsers and Node, in both. */
final class JavaScriptClientIT {
  /** The capacity of {@code connect}, and its tokens in a minute. */
  private static final int RATE = 30;

  /** Longer than API Gateway leaves an idle socket open. */
  private static final Duration IDLE = Duration.ofMinutes(11);

  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** Onboards a tenant whose sessions bear it that hours pass. */
  private static void onboard(String tenant) {
    String overrides =
        "{\"tenantPerMinute\":%d,\"tenantConnections\":100,\"sessionTTL\":80000}".formatted(RATE);
    assertThat(DEPLOYMENT.onboard(tenant, "gold", overrides).status()).isEqualTo(201);
  }

  /** Takes all tokens of the tenant. */
  private static void drain(String tenant) throws InterruptedException {
    // One after another: on a busy machine, thirty at once take longer than a token is held.
    for (int i = 0; i < RATE; i++) {
      Handshake admitted = DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant));
      assertThat(admitted.status()).isEqualTo(101);
    }
    DEPLOYMENT.cloud().settle();
  }

  /** Moves the clock to the slot of a session that waits in line. */
  private static void advanceToSlot(String tenant, String session) throws InterruptedException {
    JsonNode admission =
        DEPLOYMENT.session("GET", Deployment.query(tenant, session)).body().get("admission");
    Instant slot = Instant.parse(admission.get("nextAttemptAt").asText());
    DEPLOYMENT.advance(Duration.between(DEPLOYMENT.clock().instant(), slot));
  }

  private static String output(String name) {
    return Objects.requireNonNull(DEPLOYMENT.outputs().get(name));
  }

  @Test
  void in_node_it_waits_in_line_and_is_admitted_at_its_first_return() throws Exception {
    String tenant = "node-line";
    onboard(tenant);
    drain(tenant);
    String first = DEPLOYMENT.open(tenant);
    assertThat(DEPLOYMENT.connect(tenant, first).status()).isEqualTo(429);

    try (NodeClient client =
        new NodeClient(Map.of("sessionUrl", output("SessionURL"), "tenantId", tenant))) {
      client.send("m-1", "sent while waiting", true);
      String session = client.await("session").get("sessionId").asText();
      JsonNode waiting = client.await("waiting");
      assertThat(waiting.get("reason").asText()).isEqualTo("TENANT_RATE");
      assertThat(waiting.get("ahead").asInt()).isEqualTo(1);
      assertThat(waiting.get("retryAfterSeconds").asInt()).isBetween(1, 5);
      advanceToSlot(tenant, session);

      client.awaitState("open");
      assertThat(client.states()).containsExactly("waiting", "connecting", "open");
      assertThat(client.await("answer").get("id").asText()).isEqualTo("m-1");

      DEPLOYMENT.advance(IDLE);
      client.awaitState("reconnecting");
      client.awaitState("open");
      client.send("m-2", "after the drop", true);
      assertThat(client.await("answer").get("id").asText()).isEqualTo("m-2");
      assertThat(DEPLOYMENT.session("GET", Deployment.query(tenant, session)).status())
          .as("the same session")
          .isEqualTo(200);
    }
  }

  @Tag("nightly")
  @Test
  void in_node_it_sends_again_what_was_answered_while_the_network_broke() throws Exception {
    String tenant = "node-drop";
    onboard(tenant);
    String session = DEPLOYMENT.open(tenant);
    Handshake other = DEPLOYMENT.connect(tenant, session);
    assertThat(other.status()).isEqualTo(101);
    try (LossyProxy network = new LossyProxy(URI.create(output("WebSocketURL")));
        NodeClient client =
            new NodeClient(
                Map.of(
                    "sessionUrl",
                    output("SessionURL"),
                    "webSocketUrl",
                    network.url(),
                    "tenantId",
                    tenant,
                    "sessionId",
                    session,
                    "newSession",
                    false))) {
      client.awaitState("open");
      network.loseAnswers();
      client.send("m-1", "its answer is lost", false);
      other.frames().await("message", 1);
      network.cut();

      assertThat(client.await("answer").get("id").asText()).isEqualTo("m-1");
      assertThat(client.states()).endsWith("reconnecting", "connecting", "open");
      client.send("m-2", "behind it", true);
      client.await("answer", event -> event.path("id").asText().equals("m-2"));
      assertThat(other.frames().await("message", 2))
          .extracting(frame -> frame.get("id").asText())
          .as("each is processed once")
          .containsExactly("m-1", "m-2");
    }
  }

  @Test
  @Tag("nightly")
  void sample_client_shows_its_place_in_line_and_comes_back_by_itself() throws Exception {
    String tenant = "page-line";
    onboard(tenant);
    try (Browser browser = Browser.open()) {
      browser.go(output("SampleClient"));
      browser.select("#tenant", tenant);
      browser.click("#create");
      browser.awaitText("#session-status", text -> text.endsWith("is open."));
      drain(tenant);
      for (int ahead = 0; ahead < 3; ahead++) {
        assertThat(DEPLOYMENT.connect(tenant, DEPLOYMENT.open(tenant)).status()).isEqualTo(429);
      }
      browser.type("#sockets", "1");
      browser.click("#connect");
      browser.awaitText("#place", text -> text.matches("[123] ahead of you, about.\\d s"));
      assertThat(browser.text("#verdict-title")).isEqualTo("Refused");
      assertThat(browser.accessibilityFindings()).isEmpty();
      String session = browser.url().replaceAll(".*session=", "");
      advanceToSlot(tenant, session);
      browser.awaitText("#connect-status", "1 of 1 socket open."::equals);
      assertThat(browser.all("#log [data-kind=refused]")).as("refused once").hasSize(1);
      assertThat(browser.find("#place").isDisplayed()).isFalse();
      browser.click("#pooled");
      browser.awaitText("#log", text -> text.contains("Reply"));

      DEPLOYMENT.advance(IDLE);
      browser.awaitText("#log", text -> text.contains("It reconnects by itself."));
      browser.awaitText("#connect-status", "1 of 1 socket open."::equals);
      browser.go("about:blank");
      browser.go(output("SampleClient") + "#tenant=" + tenant + "&session=" + session);
      browser.awaitText("#session-status", text -> text.endsWith("is open."));
      assertThat(browser.find("#confirm").isDisplayed())
          .as("the window created this session itself")
          .isFalse();
    }
  }
}
