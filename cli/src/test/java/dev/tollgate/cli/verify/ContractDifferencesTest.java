package dev.tollgate.cli.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The comparison of answers with the contracts, against answers that differ in one place each. */
class ContractDifferencesTest {
  private static final Map<String, String> HEADERS =
      Map.of(
          "Content-Type", "application/json",
          "Cache-Control", "no-store",
          "X-Content-Type-Options", "nosniff",
          "ETag", "\"1\"",
          "Via", "1.1 proxy");
  private static final String ACCEPTED = "{\"type\":\"accepted\",\"id\":\"m-1\"}";

  /** The example of a tenant in the contract. */
  private static ObjectNode acme() {
    try (InputStream yaml =
        ContractDifferencesTest.class.getResourceAsStream(
            "/dev/tollgate/cli/contract/control-plane.yaml")) {
      return (ObjectNode)
          Json.tree(
                  new Load(LoadSettings.builder().build())
                      .loadFromInputStream(Objects.requireNonNull(yaml)))
              .at("/components/examples/acme/value");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Response response(int status, Map<String, String> headers, String body) {
    Map<String, List<String>> values = new TreeMap<>();
    headers.forEach((name, value) -> values.put(name, List.of(value)));
    return new Response(status, HttpHeaders.of(values, (name, value) -> true), body);
  }

  private static Response shown(Consumer<ObjectNode> planted) {
    ObjectNode document = acme();
    planted.accept(document);
    return response(200, HEADERS, Json.write(document));
  }

  /** A deployment that answers each request in the same way. */
  private record Stub(Response answer, String frame, int handshake, int close)
      implements Deployment {
    @Override
    public Response control(
        String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
      return answer;
    }

    @Override
    public Response sessions(String method, String tenantId, Optional<String> sessionId) {
      return answer;
    }

    @Override
    public CompletableFuture<Handshake> handshake(
        Map<String, String> parameters, Listener listener) {
      listener.frame(frame);
      listener.closed(close);
      return CompletableFuture.completedFuture(new Handshake.Refused(handshake));
    }
  }

  private static ComparedDeployment compared(Response answer) {
    ComparedDeployment compared = new ComparedDeployment(new Stub(answer, ACCEPTED, 429, 1000));
    compared.control("GET", "/tenants/acme?consistent=true", Optional.empty());
    return compared;
  }

  private static ComparedDeployment opened(String frame, int handshake, int close) {
    ComparedDeployment compared =
        new ComparedDeployment(new Stub(shown(document -> {}), frame, handshake, close));
    compared.handshake(Map.of(), new Client()).join();
    return compared;
  }

  @Test
  void an_answer_as_documented_does_not_differ_whatever_a_proxy_adds() {
    assertThat(compared(shown(document -> {})).differences()).isEmpty();
    assertThat(opened(ACCEPTED, 429, 1000).differences()).isEmpty();
    assertThat(opened(ACCEPTED, 429, 1006).differences()).as("no close frame").isEmpty();
  }

  @Test
  void a_difference_names_method_path_status_pointer_and_rule() {
    assertThat(compared(shown(document -> document.remove("version"))).differences())
        .singleElement()
        .asString()
        .startsWith("GET /tenants/acme?consistent=true 200 ")
        .contains("required property 'version'");
    assertThat(
            compared(
                    shown(
                        document -> ((ObjectNode) document.at("/buckets/0")).put("level", "many")))
                .differences())
        .singleElement()
        .asString()
        .isEqualTo(
            "GET /tenants/acme?consistent=true 200 /buckets/0/level: string found, integer"
                + " expected");
  }

  @Test
  void statuses_headers_and_media_types_are_compared() {
    String body = Json.write(acme());
    Map<String, String> cached = new TreeMap<>(HEADERS);
    cached.put("Cache-Control", "max-age=60");
    Map<String, String> untagged = new TreeMap<>(HEADERS);
    untagged.remove("ETag");
    Map<String, String> text = new TreeMap<>(HEADERS);
    text.put("Content-Type", "text/plain; charset=utf-8");

    assertThat(compared(response(418, HEADERS, body)).differences())
        .containsExactly(
            "GET /tenants/acme?consistent=true 418: the contract does not have this status");
    assertThat(compared(response(200, cached, body)).differences())
        .singleElement()
        .asString()
        .contains("200 header Cache-Control max-age=60 ");
    assertThat(compared(response(200, untagged, body)).differences())
        .containsExactly("GET /tenants/acme?consistent=true 200 header ETag: required, but absent");
    assertThat(compared(response(200, text, body)).differences())
        .containsExactly(
            "GET /tenants/acme?consistent=true 200 media type text/plain: the contract does not"
                + " have it");
  }

  @Test
  void a_body_or_frame_is_one_json_value_without_repeated_members() {
    String body = Json.write(acme());
    for (String other :
        List.of(
            body + " <html>",
            body + body,
            body + "}",
            body.replaceFirst("[{]", "{\"version\":7,"),
            body.replaceFirst("\"limits\":[{]", "\"limits\":{\"sessionTTL\":7,"))) {
      assertThat(other).isNotEqualTo(body);
      assertThat(compared(response(200, HEADERS, other)).differences())
          .containsExactly(
              "GET /tenants/acme?consistent=true 200 body: not one JSON value without repeated"
                  + " members: "
                  + other);
    }
    for (String other : List.of(ACCEPTED + " <html>", ACCEPTED.replace("}", ",\"id\":\"2\"}"))) {
      assertThat(opened(other, 429, 1000).differences())
          .containsExactly("frame: not one JSON value without repeated members: " + other);
    }
    assertThat(
            opened("{\"type\":\"message\",\"id\":\"1\",\"message\":{\"a\":1,\"a\":2}}", 429, 1000)
                .differences())
        .as("a client's own message")
        .isEmpty();
  }

  @Test
  void frames_handshakes_and_close_codes_are_compared() {
    assertThat(opened("{\"type\":\"accepted\",\"id\":5}", 429, 1000).differences())
        .singleElement()
        .asString()
        .startsWith("frame {\"type\":\"accepted\",\"id\":5} is no message of the contract")
        .contains("accepted ", "/id: integer found, string expected");
    assertThat(opened(ACCEPTED, 418, 4000).differences())
        .containsExactly(
            "handshake 418: the contract does not have this status",
            "socket closed with 4000: the contract does not have this code");
  }

  @Test
  void a_difference_fails_the_check_in_which_it_occurred_and_no_other() {
    Stub stub = new Stub(shown(document -> document.remove("version")), ACCEPTED, 429, 1000);
    Check asking =
        new Check(
            "asking",
            "Asks.",
            Duration.ZERO,
            trial -> trial.deployment().control("GET", "/tenants/acme", Optional.empty()));
    Check silent = new Check("silent", "Does not ask.", Duration.ZERO, trial -> {});

    Report report = run(stub, asking, silent);

    assertThat(report.results().get(0))
        .isInstanceOfSatisfying(
            Result.Failed.class,
            failed -> {
              assertThat(failed.expected()).isEqualTo("documents as in the API's contract");
              assertThat(failed.seen())
                  .startsWith("GET /tenants/acme 200 ")
                  .contains("required property 'version'");
            });
    assertThat(report.results().get(1)).isInstanceOf(Result.Passed.class);
    assertThat(report.differences())
        .as("outside of checks: tiers are not like tenants")
        .anyMatch(difference -> difference.startsWith("GET /tiers 200 "));
    assertThat(report.passed()).isFalse();
  }

  private static Report run(Deployment deployment, Check... checks) {
    return new Verification(deployment, QuietShell.at(new AtomicLong()), Bounds.REAL, "verify-x")
        .run(List.of(checks), 1, result -> {});
  }
}
