package dev.tollgate.e2e.acceptance;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Sign-in to the operator's page, with a user pool that this test simulates by a proxy in front of
 * the console. The proxy refuses requests to the control plane without the pool's token, and issues
 * a token for a code.
 */
final class SignInIT {
  private final Deployment deployment = Deployment.underTest();
  private final HttpClient http = HttpClient.newHttpClient();
  private final Map<String, String> challenges = new TreeMap<>();
  private volatile String token = "token-of-an-operator";
  private volatile boolean refusing;
  private volatile boolean broken;
  private HttpServer server;
  private Browser browser;

  @BeforeEach
  void start() throws IOException {
    browser = Browser.open();
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", this::answer);
    server.start();
  }

  @AfterEach
  void stop() {
    if (server != null) {
      server.stop(0);
    }
    if (browser != null) {
      browser.close();
    }
  }

  private String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  @Test
  void an_operator_who_signs_in_returns_to_the_same_tenant() {
    assertThat(deployment.onboard("page-signed", "bronze", "{}").status()).isEqualTo(201);
    browser.go(url() + "/operator#/tenants/page-signed/now");
    browser.click("#sign-in");
    browser.awaitText("#detail-title", "page-signed"::equals);
    assertThat(browser.url()).isEqualTo(url() + "/operator#/tenants/page-signed/now");
    assertThat(browser.find("#sign-in-panel").isDisplayed()).isFalse();
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("401"));

    browser.click("#sign-out");
    browser.await("the operator is signed out", () -> browser.find("#sign-in-panel").isDisplayed());
    assertThat(browser.script("return sessionStorage.length")).isEqualTo(0L);
  }

  @Test
  @Tag("nightly")
  void an_operator_with_an_expired_token_signs_in_again_and_returns_to_the_same_page() {
    assertThat(deployment.onboard("page-expired", "bronze", "{}").status()).isEqualTo(201);
    browser.go(url() + "/operator#/tenants/page-expired/now");
    browser.click("#sign-in");
    browser.awaitText("#detail-title", "page-expired"::equals);

    token = "another-token";
    browser.await(
        "the page asks for sign-in again", () -> browser.find("#sign-in-panel").isDisplayed());
    assertThat(browser.find("#workplace").isDisplayed()).isFalse();
    assertThat(browser.script("return sessionStorage.length")).isEqualTo(0L);
    browser.click("#sign-in");
    browser.awaitText("#detail-title", "page-expired"::equals);
    assertThat(browser.find("#workplace").isDisplayed()).isTrue();
    assertThat(browser.errors()).allSatisfy(error -> assertThat(error).contains("401"));
  }

  @Tag("nightly")
  @Test
  void an_operator_who_may_not_sign_in_sees_the_reason() {
    refusing = true;
    browser.go(url() + "/operator");
    browser.click("#sign-in");
    browser.awaitText("#notices", text -> text.contains("Sign-in failed: Not an operator."));
    browser.await("the page offers another attempt", () -> browser.find("#sign-in").isDisplayed());
  }

  @Tag("nightly")
  @Test
  void a_code_without_a_pending_sign_in_is_not_used() {
    browser.go(url() + "/operator?code=planted&state=planted");
    browser.awaitText("#notices", text -> text.contains("this tab did not start it"));
    assertThat(browser.url()).isEqualTo(url() + "/operator");
    assertThat(browser.script("return sessionStorage.length")).isEqualTo(0L);
  }

  @Tag("nightly")
  @Test
  void an_unexpected_error_is_shown_on_the_page() {
    broken = true;
    browser.go(url() + "/operator");
    browser.awaitText("#notices", text -> text.contains("Reload the page to continue."));
  }

  private void answer(HttpExchange exchange) throws IOException {
    URI requested = exchange.getRequestURI();
    if (broken && requested.getPath().equals("/config.json")) {
      send(exchange, 500, "application/json", "{}");
      return;
    }
    switch (requested.getPath()) {
      case "/config.json" ->
          send(
              exchange,
              200,
              "application/json",
              "{\"sessionUrl\":\"%s\",\"webSocketUrl\":\"%s\",\"sessionAccess\":\"signed\","
                      .formatted(
                          deployment.outputs().get("SessionURL"),
                          deployment.outputs().get("WebSocketURL"))
                  + "\"signIn\":{\"domain\":\"%s\",\"clientId\":\"console\"}}".formatted(url()));
      case "/oauth2/authorize" -> authorize(exchange, parameters(requested.getRawQuery()));
      case "/oauth2/token" -> token(exchange);
      case "/logout" ->
          redirect(exchange, parameters(requested.getRawQuery()).getOrDefault("logout_uri", ""));
      default -> pass(exchange, requested);
    }
  }

  private void authorize(HttpExchange exchange, Map<String, String> form) throws IOException {
    assertThat(form)
        .containsEntry("response_type", "code")
        .containsEntry("client_id", "console")
        .containsEntry("redirect_uri", url() + "/operator")
        .containsEntry("code_challenge_method", "S256");
    String back = form.get("redirect_uri") + "?state=" + form.get("state");
    if (refusing) {
      redirect(exchange, back + "&error=access_denied&error_description=Not+an+operator");
    } else {
      challenges.put("code-1", form.getOrDefault("code_challenge", ""));
      redirect(exchange, back + "&code=code-1");
    }
  }

  private void token(HttpExchange exchange) throws IOException {
    Map<String, String> form =
        parameters(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
    String challenge = challenges.remove(form.getOrDefault("code", ""));
    boolean right =
        "authorization_code".equals(form.get("grant_type"))
            && (url() + "/operator").equals(form.get("redirect_uri"))
            && challengeOf(form.getOrDefault("code_verifier", "")).equals(challenge);
    send(
        exchange,
        right ? 200 : 400,
        "application/json",
        right
            ? "{\"access_token\":\"%s\",\"token_type\":\"Bearer\"}".formatted(token)
            : "{\"error\":\"invalid_grant\"}");
  }

  /** The code challenge of a verifier, as in RFC 7636, 4.6. */
  private static String challengeOf(String verifier) {
    try {
      return Base64.getUrlEncoder()
          .withoutPadding()
          .encodeToString(
              MessageDigest.getInstance("SHA-256")
                  .digest(verifier.getBytes(StandardCharsets.US_ASCII)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /** Passes a request on to the console, unless it needs a token and has none. */
  private void pass(HttpExchange exchange, URI requested) throws IOException {
    boolean guarded =
        requested.getPath().matches("/(tenants|tiers|activity|fleet|audit|admit-all|alarms)(/.*)?");
    List<String> authorization =
        exchange.getRequestHeaders().getOrDefault("Authorization", List.of());
    if (guarded && !authorization.equals(List.of("Bearer " + token))) {
      send(exchange, 401, "application/json", "{\"message\":\"Unauthorized\"}");
      return;
    }
    URI console = URI.create(deployment.outputs().get("SampleClient"));
    String target = requested.toString().substring(1);
    try {
      // Requests have this header as in a browser, because large files are sent only in compressed
      // form.
      HttpResponse<byte[]> answer =
          http.send(
              HttpRequest.newBuilder(URI.create(console + target))
                  .header("accept-encoding", "gzip")
                  .build(),
              HttpResponse.BodyHandlers.ofByteArray());
      for (String passed : List.of("content-security-policy", "content-encoding")) {
        answer
            .headers()
            .firstValue(passed)
            .ifPresent(value -> exchange.getResponseHeaders().set(passed, value));
      }
      send(
          exchange,
          answer.statusCode(),
          answer.headers().firstValue("content-type").orElse("text/plain"),
          answer.body());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void redirect(HttpExchange exchange, String location) throws IOException {
    exchange.getResponseHeaders().set("location", location);
    exchange.sendResponseHeaders(302, -1);
    exchange.close();
  }

  private static void send(HttpExchange exchange, int status, String type, String body)
      throws IOException {
    send(exchange, status, type, body.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] bytes)
      throws IOException {
    exchange.getResponseHeaders().set("content-type", type);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private static Map<String, String> parameters(String form) {
    Map<String, String> parameters = new TreeMap<>();
    for (String pair : form.split("&", -1)) {
      String[] parts = pair.split("=", 2);
      parameters.put(parts[0], URLDecoder.decode(parts[1], StandardCharsets.UTF_8));
    }
    return parameters;
  }
}
