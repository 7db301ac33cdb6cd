package dev.tollgate.handlers.session;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import dev.tollgate.core.bucket.claim.FreedPlaces;
import dev.tollgate.core.connect.OpenedConnections;
import dev.tollgate.core.connect.OpenedSessions;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.session.Subject;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.fixture.AdmissionFixture;
import dev.tollgate.core.testing.memory.RecordingSockets;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.LambdaEvents;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * The deployment of an attached API also has the session API. A subject's session has an id that
 * anyone who knows tenant and subject computes, and the session API asks for nothing more.
 */
final class SubjectSessionAttackTest {
  private final AdmissionFixture fixture = new AdmissionFixture();
  private final Tenant acme = fixture.onboard("acme", "gold", Map.of());
  private final RecordingSockets sockets = new RecordingSockets();

  private SessionApi api(Optional<String> claim) {
    return new SessionApi(
        fixture.tenants(),
        fixture.facts(),
        new SessionLifecycle(
            fixture.sessions(), fixture.sessions(), sockets, new SecureRandom(), fixture.clock()),
        new FreedPlaces(fixture.buckets(), fixture.clock()),
        fixture.enforcement(),
        new SessionSettings("wss://sockets.example/production", false, claim),
        Tracing.OFF,
        fixture.clock());
  }

  private SessionId annsSession() {
    SessionId anns = SessionId.of(Subject.of(acme.id(), "ann"));
    new OpenedConnections(fixture.sessions(), fixture.sessions(), OpenedSessions.PER_SUBJECT)
        .join(
            acme.id(),
            anns,
            "anns-socket",
            10,
            Gcra.perMinute(30),
            Optional.empty(),
            Optional.empty(),
            fixture.clock().instant(),
            fixture.clock().instant());
    fixture.sessions().countUp(acme.id(), 1000);
    fixture.clock().advance(Duration.ofMinutes(10));
    return anns;
  }

  /** sessionAccess(Open): a stranger who knows a tenant's id and a user's. */
  @Test
  void a_stranger_does_not_close_a_subjects_sockets() {
    SessionId anns = annsSession();
    int status =
        api(Optional.empty())
            .handleRequest(
                LambdaEvents.http(
                    "DELETE /session", Map.of("tenantId", "acme", "sessionId", anns.value())),
                LambdaEvents.context())
            .getStatusCode();
    assertThat(sockets.closed()).as("answer " + status).isEmpty();
  }

  /** sessionAccess(Jwt): bob's valid token of the same tenant. */
  @Test
  void another_user_of_the_tenant_does_not_close_a_subjects_sockets() {
    SessionId anns = annsSession();
    APIGatewayV2HTTPEvent event =
        LambdaEvents.http(
            "DELETE /session",
            Map.of("tenantId", "acme", "sessionId", anns.value()),
            Map.of("custom:tenant", "acme", "sub", "bob", "exp", "4000000000"));
    int status =
        api(Optional.of("custom:tenant"))
            .handleRequest(event, LambdaEvents.context())
            .getStatusCode();
    assertThat(sockets.closed()).as("answer " + status).isEmpty();
  }

  /** Ann's first socket is still in its handshake, which her application's function may delay. */
  @Test
  void another_user_of_the_tenant_does_not_lock_a_subject_out() {
    SessionId anns = SessionId.of(Subject.of(acme.id(), "ann"));
    OpenedConnections opened =
        new OpenedConnections(fixture.sessions(), fixture.sessions(), OpenedSessions.PER_SUBJECT);
    sockets.lose("handshaking");
    assertThat(join(opened, anns, "handshaking")).isEqualTo(Connections.JoinResult.ADDED);
    api(Optional.of("custom:tenant"))
        .handleRequest(
            LambdaEvents.http(
                "DELETE /session",
                Map.of("tenantId", "acme", "sessionId", anns.value()),
                Map.of("custom:tenant", "acme", "sub", "bob", "exp", "4000000000")),
            LambdaEvents.context());
    fixture.clock().advance(Duration.ofMinutes(1));
    assertThat(join(opened, anns, "next")).isEqualTo(Connections.JoinResult.ADDED);
  }

  private Connections.JoinResult join(OpenedConnections opened, SessionId session, String id) {
    return opened.join(
        acme.id(),
        session,
        id,
        10,
        Gcra.perMinute(30),
        Optional.empty(),
        Optional.empty(),
        fixture.clock().instant(),
        fixture.clock().instant());
  }
}
