package dev.tollgate.handlers.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.sun.net.httpserver.HttpServer;
import dev.tollgate.core.Unavailable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents of an issuer, over HTTP. */
final class PublishedKeySetTest {
  private static final String DISCOVERY = "/.well-known/openid-configuration";

  private final Map<String, String> documents = new ConcurrentHashMap<>();
  private HttpServer server;
  private String issuer;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    issuer = "http://127.0.0.1:" + server.getAddress().getPort();
    server.createContext(
        "/",
        exchange -> {
          String path = exchange.getRequestURI().getPath();
          if (path.equals("/silent")) {
            return;
          }
          byte[] body = documents.getOrDefault(path, "").getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Location", issuer + "/keys");
          exchange.sendResponseHeaders(path.equals("/moved") ? 302 : 200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    documents.put("/keys", "{\"keys\":[]}");
    documents.put("/large", "{\"keys\":[]," + " ".repeat(150_000) + "}");
    publish(issuer, issuer + "/keys");
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void publish(String name, String keys) {
    documents.put(DISCOVERY, "{\"issuer\":\"" + name + "\",\"jwks_uri\":\"" + keys + "\"}");
  }

  private String read() {
    return new PublishedKeySet(issuer, Duration.ofMillis(500)).read();
  }

  @Test
  void the_key_set_that_the_discovery_document_names() {
    assertThat(read()).isEqualTo("{\"keys\":[]}");
  }

  @ParameterizedTest
  @CsvSource({
    "/moved, status 302",
    "/silent, no answer within PT0.5S",
    "/large, larger than 150000 bytes",
  })
  void a_key_set_that_is_elsewhere_late_or_large_is_unavailable(String path, String reason) {
    publish(issuer, issuer + path);
    assertThatThrownBy(this::read).isInstanceOf(Unavailable.class).hasStackTraceContaining(reason);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "http:x", "http://issuer.example/keys", "file:/keys", "a b"})
  void a_key_set_that_is_not_at_an_https_url_is_unavailable(String address) {
    publish(issuer, address);
    assertThatThrownBy(this::read)
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("expected: an https URL");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "[]", "{", "{\"issuer\":\"https://other.example\"}"})
  void another_discovery_document_is_unavailable(String document) {
    documents.put(DISCOVERY, document);
    assertThatThrownBy(this::read).isInstanceOf(Unavailable.class).hasMessageContaining(DISCOVERY);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "null", "[]", "{}", "{\"keys\":7}", "{\"keys\":[null]}"})
  void a_document_without_keys_makes_tokens_undecided_or_keys_unknown(String document) {
    JWSHeader header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("one").build();
    IssuerKeys keys = new IssuerKeys(() -> document, InstantSource.system());
    try {
      assertThat(keys.find(header)).isEmpty();
    } catch (Unavailable undecided) {
      assertThat(undecided.reason()).contains("the keys of the issuer");
    }
  }
}
