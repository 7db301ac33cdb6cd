package dev.tollgate.local.hosts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AllowedHostsTest {
  private static final AllowedHosts HOSTS = new AllowedHosts(Set.of("Laptop.lan"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "LOCALHOST:8080",
        "acme.localhost:8080",
        "127.0.0.1:8080",
        "192.168.1.20:8080",
        "[::1]:8080",
        "laptop.lan:8080",
      })
  void this_machine_and_allowed_names_are_taken(String host) {
    assertThat(refusal(host)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "evillocalhost",
        "127.0.0.1.nip.io",
        "127.0.0.1@evil.example",
        "localhost:8080:evil.example",
        "localhost/",
        "sub.laptop.lan",
        "[::1",
        "",
        " ",
      })
  void other_names_are_misdirected(String host) {
    assertThat(refusal(host)).map(Refusal::status).hasValue(421);
  }

  @Test
  void no_host_and_two_hosts_are_misdirected() {
    assertThat(HOSTS.refusal(request(List.of(), List.of()), origin -> true))
        .map(Refusal::status)
        .hasValue(421);
    assertThat(HOSTS.refusal(request(List.of("localhost", "localhost"), List.of()), origin -> true))
        .map(Refusal::status)
        .hasValue(421);
  }

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:8080, 127.0.0.1:8080",
    "http://localhost:3000, 127.0.0.1:8080",
    "http://app.localhost, 127.0.0.1:8080",
    "https://127.0.0.1, 127.0.0.1:8080",
    "http://[::1]:3000, [::1]:8080",
    "http://192.168.1.20:8080, 192.168.1.20:8080",
    "http://laptop.lan:8080, laptop.lan:8080",
    "http://Laptop.lan:8080, 192.168.1.20:8080",
    "http://laptop.lan:8080, localhost:8080",
    "http://laptop.lan, 192.168.1.20",
    "https://app.example, 127.0.0.1:8080",
  })
  void own_pages_and_origins_of_cors_are_taken(String origin, String host) {
    assertThat(refusal(host, origin)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "http://evil.example, 127.0.0.1:8080",
    "null, 127.0.0.1:8080",
    "'', 127.0.0.1:8080",
    "file://, 127.0.0.1:8080",
    "http://203.0.113.5, 127.0.0.1:8080",
    "http://localhost.evil.example, 127.0.0.1:8080",
    "http://127.0.0.1.nip.io, 127.0.0.1:8080",
    "http://evil.example/http://localhost, 127.0.0.1:8080",
    "http://evil.example?.localhost, 127.0.0.1:8080",
    "http://192.168.1.20:8081, 192.168.1.20:8080",
    "http://laptop.lan:8081, 192.168.1.20:8080",
    "http://laptop.lan, 192.168.1.20:8080",
    "http://sub.laptop.lan:8080, 192.168.1.20:8080",
    "http://laptop.lan.evil.example:8080, 192.168.1.20:8080",
    "http://laptop.lan:8080@evil.example, 192.168.1.20:8080",
    "https://app.example.evil.example, 127.0.0.1:8080",
  })
  void pages_of_other_sites_are_forbidden(String origin, String host) {
    assertThat(refusal(host, origin)).map(Refusal::status).hasValue(403);
  }

  @Test
  void a_second_origin_is_forbidden() {
    assertThat(
            HOSTS.refusal(
                request(List.of("localhost"), List.of("http://localhost", "http://evil.example")),
                origin -> true))
        .map(Refusal::status)
        .hasValue(403);
  }

  @Test
  void a_refusal_says_what_to_do() {
    assertThat(refusal("x".repeat(200)).map(Refusal::detail))
        .hasValueSatisfying(
            detail ->
                assertThat(detail)
                    .startsWith("Host: " + "x".repeat(100) + "... (expected: localhost")
                    .contains("./tollgate up --host NAME"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"http://laptop.lan", "laptop.lan:8080", "*", "", "two names"})
  void names_that_are_none_are_refused(String name) {
    assertThatThrownBy(() -> new AllowedHosts(Set.of(name)))
        .hasMessageStartingWith("host: " + name + " (expected: ");
  }

  private static Optional<Refusal> refusal(String host) {
    return HOSTS.refusal(request(List.of(host), List.of()), origin -> false);
  }

  private static Optional<Refusal> refusal(String host, String origin) {
    return HOSTS.refusal(
        request(List.of(host), List.of(origin)), o -> o.equals("https://app.example"));
  }

  private static HttpServerExchange request(List<String> hosts, List<String> origins) {
    HttpServerExchange exchange = new HttpServerExchange(null);
    hosts.forEach(host -> exchange.getRequestHeaders().add(Headers.HOST, host));
    origins.forEach(origin -> exchange.getRequestHeaders().add(Headers.ORIGIN, origin));
    return exchange;
  }
}
