package dev.tollgate.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.http.testing.HttpContract;
import dev.tollgate.http.testing.SocketContract;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The published contracts say of routes, limits and frames what the code says. */
final class ContractTest {
  private static final HttpContract SESSIONS =
      HttpContract.of(Path.of("../docs/openapi/session.yaml"));
  private static final SocketContract SOCKETS = SocketContract.of(Path.of("../docs/asyncapi.yaml"));

  private final AdmissionFixture town = new AdmissionFixture();

  @Test
  void every_route_is_in_the_contract_and_the_other_way_round() {
    SessionApi api =
        new SessionApi(
            town.tenants(),
            town.facts(),
            new SessionLifecycle(
                town.sessions(),
                town.sessions(),
                new RecordingSockets(),
                new SecureRandom(),
                town.clock()),
            "wss://sockets.example/production",
            true,
            Optional.empty(),
            town.clock());
    Set<String> answeredByTheGateway = Set.of("OPTIONS /session", "OPTIONS /tenant");

    Set<String> routes = new TreeSet<>(api.routes().keys());
    routes.addAll(answeredByTheGateway);

    assertThat(SESSIONS.operations()).isEqualTo(routes);
  }

  @ParameterizedTest
  @EnumSource
  void a_limit_has_the_range_that_the_contract_says(Limit limit) {
    JsonNode schema = SESSIONS.schema("Limits").path("properties").path(limit.key());

    assertThat(limit.expected())
        .isEqualTo("a whole number, " + schema.path("minimum") + " to " + schema.path("maximum"));
  }

  @Test
  void what_the_processor_sends_is_in_the_contract() {
    JsonFrames frames = new JsonFrames();
    for (String frame :
        List.of(
            frames.message("m-1", "null"),
            frames.reply("m-1", "{\"a\":[1]}"),
            frames.throttled("m-1", Duration.ofMillis(1)),
            frames.suspended("m-1"),
            frames.badFrame("m-1", "message: missing (expected: any JSON)"))) {
      SOCKETS.checkReceived(frame);
    }
    assertThat(SOCKETS.seen()).contains("message", "reply", "throttled", "suspended", "badFrame");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"action\":\"PooledSQS\",\"message\":null}",
        "{\"action\":\"PooledSQS\",\"id\":null,\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":\"\",\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":7,\"message\":{},\"more\":true}",
        "{\"action\":\"SiloSQS\",\"id\":7.5,\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":\"a b\",\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":[],\"message\":1}",
        "{\"action\":\"SiloSQS\",\"id\":true,\"message\":1}",
        "{\"action\":\"SiloSQS\"}",
        "{\"action\":\"SiloSQS\",",
        "[]"
      })
  void the_contract_takes_the_frames_that_the_processor_takes(String frame) {
    boolean taken =
        ClientFrame.of(frame).content()
            instanceof dev.tollgate.core.message.IncomingMessage.Message;

    assertThat(SOCKETS.takes(frame)).isEqualTo(taken);
  }
}
