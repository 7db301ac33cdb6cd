package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.tollgate.client.PushClient;
import dev.tollgate.client.PushFailed;
import dev.tollgate.client.PushMessage;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.socket.SocketListener;
import dev.tollgate.socket.SocketState;
import dev.tollgate.socket.TollgateSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;

/** Messages of a backend to open sockets. */
final class PushIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  /** JSON that a parser and a writer would change. */
  private static final String MESSAGE =
      "{ \"b\" : [1.0, 1e5, -0, 12345678901234567890.123],\n \"a\":\"\\u0041ä🚀\", \"c\": null }";

  private static Answer push(String tenant, String target, String more) {
    return DEPLOYMENT.control(
        "POST", "/tenants/" + tenant + "/push", "{" + target + "," + more + "}");
  }

  private static String to(String session) {
    return "\"sessionId\":\"" + session + "\"";
  }

  private static String frame(String id, String message) {
    return "{\"type\":\"push\",\"id\":\"" + id + "\",\"message\":" + message + "}";
  }

  /** The requests of an action, except for credentials, with the function that sent each. */
  private static List<String> requests(LocalDeployment.Action action) throws Exception {
    return DEPLOYMENT.requestsOf(action).stream()
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .map(request -> request.principal().name() + " " + request.operation())
        .sorted()
        .toList();
  }

  private static Handshake connected(String tenant, String session) {
    Handshake handshake = DEPLOYMENT.connect(tenant, session);
    assertThat(handshake.status()).isEqualTo(101);
    return handshake;
  }

  @Test
  void a_push_to_a_session_costs_one_read_and_one_request_a_socket() throws Exception {
    DEPLOYMENT.onboard("pushed", "gold", "{}");
    String session = DEPLOYMENT.open("pushed");
    Handshake one = connected("pushed", session);
    Handshake two = connected("pushed", session);
    Handshake stranger = connected("pushed", DEPLOYMENT.open("pushed"));
    push("pushed", to(session), "\"id\":\"warm\",\"message\":0");

    List<String> requests =
        requests(
            () -> {
              Answer answer = push("pushed", to(session), "\"message\":" + MESSAGE);
              assertThat(answer.status()).as("%s", answer).isEqualTo(200);
              assertThat(answer.body().path("sockets").asInt()).isEqualTo(2);
              for (Handshake socket : List.of(one, two)) {
                socket.frames().await("push", 2);
                assertThat(socket.frames().texts())
                    .contains(frame(answer.body().path("id").asText(), MESSAGE));
              }
            });

    assertThat(requests)
        .containsExactly(
            "ControlPlane BatchGetItem",
            "ControlPlane PostToConnection",
            "ControlPlane PostToConnection");
    assertThat(stranger.frames().texts()).isEmpty();
    DEPLOYMENT.close(stranger);
    DEPLOYMENT.close(one);
    DEPLOYMENT.close(two);
  }

  @Test
  void the_client_for_Java_pushes_and_reports_refusals() throws Exception {
    DEPLOYMENT.onboard("javaclient", "gold", "{}");
    String session = DEPLOYMENT.open("javaclient");
    Handshake socket = connected("javaclient", session);
    PushClient client =
        new PushClient(
            URI.create(DEPLOYMENT.outputs().get("ControlPlaneURL")),
            Region.EU_CENTRAL_1,
            StaticCredentialsProvider.create(AwsBasicCredentials.create("id", "secret")));
    PushMessage message = PushMessage.of(MESSAGE).withId("order-1");

    PushClient.Delivery delivery = client.toSession("javaclient", session, message);
    String queued = client.toTenant("javaclient", PushMessage.of("1"));

    assertThat(delivery).isEqualTo(new PushClient.Delivery("order-1", 1, 0, 0));
    assertThat(client.toSession("javaclient", session, message)).isEqualTo(delivery);
    assertThat(client.toSubject("javaclient", "nobody", message.withId("order-2")).sockets())
        .isZero();
    DEPLOYMENT.cloud().settle();
    socket.frames().await("push", 2);
    assertThat(socket.frames().texts())
        .containsExactly(frame("order-1", MESSAGE), frame(queued, "1"));
    assertThatExceptionOfType(PushFailed.class)
        .isThrownBy(() -> client.toSession("nosuch", session, PushMessage.of("1")))
        .withMessageStartingWith("404: ")
        .withMessageContaining("nosuch");
    DEPLOYMENT.close(socket);
  }

  @Test
  void a_named_push_reaches_a_socket_once_and_gone_sockets_are_removed() throws Exception {
    DEPLOYMENT.onboard("named", "gold", "{}");
    String session = DEPLOYMENT.open("named");
    Handshake one = connected("named", session);
    Handshake lost = connected("named", session);
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    String body = "\"id\":\"order-1\",\"message\":1";

    AtomicInteger unreported = new AtomicInteger();
    DEPLOYMENT
        .cloud()
        .faults()
        .loseEvents(
            (function, event) ->
                function.contains("Disconnect") && unreported.incrementAndGet() > 0);
    DEPLOYMENT.close(lost);
    DEPLOYMENT.cloud().settle();
    assertThat(unreported).hasValue(1);
    DEPLOYMENT.cloud().faults().loseEvents((function, event) -> false);
    Answer first = push("named", to(session), body);
    Answer again = push("named", to(session), body);

    assertThat(first.body().path("sockets").asInt()).isEqualTo(1);
    assertThat(first.body().path("gone").asInt()).isEqualTo(1);
    assertThat(again.body()).isEqualTo(first.body());
    assertThat(push("named", to(session), "\"message\":2").body().path("gone").asInt()).isZero();
    one.frames().await("push", 2);
    assertThat(one.frames().of("push")).hasSize(2);
    assertThat(DEPLOYMENT.control("GET", "/tenants/named").body().path("connections").asInt())
        .isEqualTo(1);
    DEPLOYMENT.close(one);
  }

  @Test
  void all_sessions_of_a_tenant_get_it_once_and_a_neighbour_is_served_as_before() throws Exception {
    int sessions = 130;
    DEPLOYMENT.onboard("many", "gold", "{\"tenantPerMinute\":1000,\"tenantConnections\":1000}");
    DEPLOYMENT.onboard("neighbour", "gold", "{}");
    List<String> ids = Stream.generate(() -> DEPLOYMENT.open("many")).limit(sessions).toList();
    List<Handshake> sockets = ids.stream().map(id -> connected("many", id)).toList();
    Handshake neighbour = connected("neighbour", DEPLOYMENT.open("neighbour"));
    String message = "{\"action\":\"PooledSQS\",\"message\":1}";
    neighbour.send(message);
    neighbour.frames().await("reply", 1);
    List<String> alone =
        requests(
            () -> {
              neighbour.send(message);
              neighbour.frames().await("reply", 2);
            });

    List<String> requests =
        requests(
            () -> {
              Answer answer =
                  push("many", "\"all\":true", "\"id\":\"all-1\",\"message\":" + MESSAGE);
              assertThat(answer.status()).isEqualTo(202);
              assertThat(
                      push("many", "\"all\":true", "\"id\":\"all-1\",\"message\":" + MESSAGE)
                          .status())
                  .isEqualTo(202);
              neighbour.send(message);
              neighbour.frames().await("reply", 3);
              for (Handshake socket : sockets) {
                socket.frames().await("push", 1);
              }
            });

    for (Handshake socket : sockets) {
      assertThat(socket.frames().texts()).containsExactly(frame("all-1", MESSAGE));
    }
    assertThat(neighbour.frames().of("push")).isEmpty();
    assertThat(requests.stream().filter(each -> each.equals("TenantPusher PostToConnection")))
        .hasSize(sessions);
    assertThat(requests.stream().filter(each -> each.equals("TenantPusher Query"))).hasSize(2);
    assertThat(requests.stream().filter(each -> each.startsWith("PoolProcessor")).toList())
        .as("the neighbour's message")
        .isEqualTo(alone.stream().filter(each -> each.startsWith("PoolProcessor")).toList());
  }

  @Test
  void both_clients_have_an_event_of_it() throws Exception {
    DEPLOYMENT.onboard("clients", "gold", "{}");
    String sessions = DEPLOYMENT.outputs().getOrDefault("SessionURL", "");
    CompletableFuture<String> received = new CompletableFuture<>();
    List<SocketState> states = new ArrayList<>();
    CompletableFuture<Void> open = new CompletableFuture<>();
    try (NodeClient node = new NodeClient(Map.of("sessionUrl", sessions, "tenantId", "clients"))) {
      TollgateSocket java =
          TollgateSocket.builder(URI.create(sessions), "clients")
              .endSessionOnClose()
              .listener(
                  new SocketListener() {
                    @Override
                    public void stateChanged(SocketState state) {
                      states.add(state);
                      if (state instanceof SocketState.Open) {
                        open.complete(null);
                      }
                    }

                    @Override
                    public void pushReceived(String id, String json) {
                      received.complete(id + " " + json);
                    }
                  })
              .open();
      String session = node.await("session").get("sessionId").asText();
      node.awaitState("open");
      open.join();

      push("clients", to(session), "\"id\":\"p-1\",\"message\":{\"n\":1}");
      push(
          "clients",
          to(java.session().orElseThrow().sessionId()),
          "\"id\":\"p-2\",\"message\":" + MESSAGE);

      assertThat(node.await("push"))
          .hasToString("{\"type\":\"push\",\"id\":\"p-1\",\"message\":{\"n\":1}}");
      assertThat(received.join()).isEqualTo("p-2 " + MESSAGE);
      java.closeAsync();
      java.closed().toCompletableFuture().join();
    }
  }
}
