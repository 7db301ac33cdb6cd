package dev.tollgate.handlers.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.http.testing.HttpContract;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The published contract of the session API has the routes and limits of the code. */
final class SessionContractTest {
  private static final HttpContract SESSIONS =
      HttpContract.of(Path.of("../docs/openapi/session.yaml"));

  private final AdmissionFixture fixture = new AdmissionFixture();

  @Test
  void contract_has_the_same_routes_as_the_code() {
    SessionApi api =
        new SessionApi(
            fixture.tenants(),
            fixture.facts(),
            new SessionLifecycle(
                fixture.sessions(),
                fixture.sessions(),
                new RecordingSockets(),
                new SecureRandom(),
                fixture.clock()),
            new FreedPlaces(fixture.buckets(), fixture.clock()),
            fixture.enforcement(),
            new SessionSettings("wss://sockets.example/production", true, Optional.empty()),
            Tracing.OFF,
            fixture.clock());
    Set<String> gatewayRoutes = Set.of("OPTIONS /session", "OPTIONS /tenant");

    Set<String> routes = new TreeSet<>(api.routes().keys());
    routes.addAll(gatewayRoutes);

    assertThat(SESSIONS.operations()).isEqualTo(routes);
  }

  @ParameterizedTest
  @EnumSource
  void a_limit_has_the_same_range_in_the_contract(Limit limit) {
    JsonNode schema = SESSIONS.schema("Limits").path("properties").path(limit.key());

    assertThat(schema.path("minimum").asLong()).isEqualTo(1);
    assertThat(schema.path("maximum").asLong()).isEqualTo(limit.max());
  }
}
