package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.socket.ManualScheduler;
import dev.tollgate.socket.SendResult;
import dev.tollgate.socket.Session;
import dev.tollgate.socket.SocketListener;
import dev.tollgate.socket.SocketState;
import dev.tollgate.socket.TollgateSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** The socket client against the stack: refused, in line, admitted, answered, dropped, and back. */
final class SocketClientIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final Duration STEP = Duration.ofMillis(500);

  /** Five minutes off: a client's clock is never compared with the server's. */
  private static final Duration SKEW = Duration.ofMinutes(-5);

  private final ManualScheduler time = new ManualScheduler(DEPLOYMENT.clock().instant().plus(SKEW));
  private final List<SocketState> states = new ArrayList<>();
  private final List<Integer> refused = new ArrayList<>();

  private TollgateSocket open(String tenant) {
    return TollgateSocket.builder(URI.create(DEPLOYMENT.outputs().get("SessionURL")), tenant)
        .scheduler(time)
        .clock(time)
        .random(new Random(1))
        .endSessionOnClose()
        .listener(
            new SocketListener() {
              @Override
              public void stateChanged(SocketState state) {
                states.add(state);
              }

              @Override
              public void handshakeRefused(int status) {
                refused.add(status);
              }
            })
        .open();
  }

  /** Moves both clocks. */
  private void pass(Duration by) throws InterruptedException {
    for (Duration left = by; !left.isNegative() && !left.isZero(); left = left.minus(STEP)) {
      Duration step = left.compareTo(STEP) < 0 ? left : STEP;
      DEPLOYMENT.advance(step);
      DEPLOYMENT.cloud().settle();
      time.advance(step);
      time.settle();
    }
  }

  private SendResult reply(TollgateSocket socket, String json) throws InterruptedException {
    CompletableFuture<SendResult> result = socket.request(json).toCompletableFuture();
    time.await(result::isDone);
    return result.join();
  }

  @Test
  void refused_client_waits_in_line_and_comes_back_after_a_drop() throws Exception {
    String tenant = "socket-client";
    DEPLOYMENT.onboard(
        tenant, "gold", "{\"tenantPerMinute\":30,\"tenantConnections\":100,\"sessionTTL\":3600}");
    List<String> sessions = Stream.generate(() -> DEPLOYMENT.open(tenant)).limit(30).toList();
    for (Handshake admitted : DEPLOYMENT.connectAll(30, tenant, sessions)) {
      assertThat(admitted.status()).isEqualTo(101);
    }
    String other = DEPLOYMENT.open(tenant);
    assertThat(DEPLOYMENT.connect(tenant, other).status()).isEqualTo(429);
    DEPLOYMENT.cloud().settle();

    TollgateSocket socket = open(tenant);
    time.settle();

    assertThat(socket.state()).isInstanceOf(SocketState.Waiting.class);
    SocketState.Waiting waiting = (SocketState.Waiting) socket.state();
    assertThat(waiting.refusal().reason()).isEqualTo("TENANT_RATE");
    assertThat(waiting.refusal().ahead()).hasValue(1);

    pass(waiting.remaining(time.instant()));

    assertThat(socket.state()).isEqualTo(new SocketState.Open());
    assertThat(refused).as("admitted at the first return").containsExactly(429);
    assertThat(reply(socket, "{\"n\":1}"))
        .isInstanceOfSatisfying(
            SendResult.Replied.class, reply -> assertThat(reply.json()).isEqualTo("{\"n\":1}"));

    Session session = socket.session().orElseThrow();
    pass(Duration.ofSeconds(12));
    // The client's clock stands still, so it sends no heartbeat.
    DEPLOYMENT.advance(Duration.ofMinutes(11));
    time.await(() -> states.get(states.size() - 1) instanceof SocketState.Reconnecting);
    CompletableFuture<SendResult> unsent = socket.request("{\"n\":2}").toCompletableFuture();
    pass(Duration.ofSeconds(2));
    time.await(unsent::isDone);

    assertThat(socket.session()).contains(session);
    assertThat(unsent.join()).isInstanceOf(SendResult.Replied.class);
    socket.closeAsync();
    time.settle();
    assertThat(
            DEPLOYMENT.session("GET", "?tenantId=" + tenant + "&sessionId=" + session.sessionId()))
        .satisfies(answer -> assertThat(answer.status()).isEqualTo(404));
  }
}
