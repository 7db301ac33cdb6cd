package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.socket.ScriptedServer.ServerConnection;
import dev.tollgate.socket.SendResult.NotSent;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TollgateSocketTest {
  private final ManualScheduler time = new ManualScheduler(Instant.parse("2026-03-01T10:00:00Z"));
  private final ScriptedServer server = new ScriptedServer(time, 1, Duration.ZERO);
  private final List<SocketState> states = new ArrayList<>();
  private final List<String> events = new ArrayList<>();

  private TollgateSocket open() {
    return open(builder -> builder);
  }

  private TollgateSocket open(UnaryOperator<TollgateSocketBuilder> options) {
    TollgateSocketBuilder builder =
        TollgateSocket.builder(ScriptedServer.SESSIONS, "acme")
            .scheduler(time)
            .clock(time)
            .random(new Random(2))
            .transport(server)
            .listener(
                new SocketListener() {
                  @Override
                  public void stateChanged(SocketState state) {
                    states.add(state);
                  }

                  @Override
                  public void messageReceived(String id, String json) {
                    events.add("message " + id + " " + json);
                  }

                  @Override
                  public void pushReceived(String id, String json) {
                    events.add("push " + id + " " + json);
                  }

                  @Override
                  public void replyReceived(String id, String json) {
                    events.add("reply " + id + " " + json);
                  }

                  @Override
                  public void messageThrottled(String id, Duration retryAfter) {
                    events.add("throttled " + id + " " + retryAfter);
                  }

                  @Override
                  public void messageFailed(SendResult result) {
                    events.add("failed " + result);
                  }

                  @Override
                  public void handshakeRefused(int status) {
                    events.add("handshake " + status);
                  }

                  @Override
                  public void disconnected(Interruption.Dropped drop) {
                    events.add("disconnected " + drop.code());
                  }
                });
    return options.apply(builder).open();
  }

  private void pass(long seconds) {
    time.advance(Duration.ofSeconds(seconds));
  }

  private static SendResult result(CompletionStage<SendResult> stage) {
    return stage.toCompletableFuture().getNow(new NotSent("pending", NotSent.Cause.CLOSED));
  }

  private static boolean isPending(CompletionStage<SendResult> stage) {
    return !stage.toCompletableFuture().isDone();
  }

  private List<String> statesByName() {
    return states.stream().map(state -> state.getClass().getSimpleName()).toList();
  }

  private ServerConnection connection() {
    return server.connections().get(0);
  }

  private SocketState.Waiting waiting() {
    return (SocketState.Waiting) states.get(states.size() - 1);
  }

  private SocketState.Reconnecting reconnecting() {
    return (SocketState.Reconnecting) states.get(states.size() - 1);
  }

  // Sessions and handshakes

  @Test
  void socket_creates_a_session_and_opens_on_it() {
    TollgateSocket socket = open();
    pass(1);

    assertThat(statesByName()).containsExactly("Connecting", "Open");
    assertThat(server.trace).containsExactly("0 PUT", "50 handshake 101");
    assertThat(socket.session().orElseThrow().webSocketUrl()).isEqualTo(ScriptedServer.SOCKETS);
    assertThat(socket.session().orElseThrow().toString())
        .doesNotContain(socket.session().orElseThrow().sessionId());
  }

  @Test
  void socket_that_is_refused_returns_at_its_slot_and_is_admitted() {
    server.interval = Duration.ofSeconds(2);
    server.crowd(4);
    open();
    pass(1);

    assertThat(waiting().refusal().reason()).isEqualTo("TENANT_RATE");
    assertThat(waiting().remaining(waiting().since())).isEqualTo(Duration.ofSeconds(10));
    assertThat(waiting().ahead(waiting().since())).hasValue(3);
    assertThat(waiting().ahead(waiting().until().minusSeconds(5))).hasValue(2);
    assertThat(waiting().ahead(waiting().until())).hasValue(0);

    pass(10);

    assertThat(statesByName()).containsExactly("Connecting", "Waiting", "Connecting", "Open");
    assertThat(server.trace)
        .filteredOn(event -> event.contains("handshake"))
        .containsExactly("50 handshake 429", "10150 handshake 101");
    assertThat(server.early).isZero();
  }

  @Test
  void socket_in_line_longer_than_a_session_lasts_keeps_its_place() {
    server.interval = Duration.ofSeconds(10);
    server.crowd(60);
    open();
    pass(620);

    assertThat(statesByName()).endsWith("Waiting", "Connecting", "Open");
    assertThat(server.created).isOne();
  }

  @Test
  void time_that_others_were_told_as_well_gets_jitter() {
    server.handshakes.add(429);
    server.exchanges.add(ScriptedServer.answer(201, session("s")));
    server.exchanges.add(
        ScriptedServer.answer(
            200,
            "{\"admission\":{\"admitted\":false,\"reason\":\"SESSION_RATE\",\"detail\":\"d\",\"retryAfterSeconds\":6}}"));
    open();
    pass(1);

    assertThat(waiting().remaining(waiting().since()))
        .isBetween(Duration.ofSeconds(6), Duration.ofSeconds(12))
        .isNotEqualTo(Duration.ofSeconds(6));
  }

  private static String session(String id) {
    return "{\"tenantId\":\"acme\",\"sessionId\":\"%s\",\"webSocketUrl\":\"%s\"}"
        .formatted(id, ScriptedServer.SOCKETS);
  }

  @Test
  void socket_waits_for_a_free_connection_and_keeps_the_session() {
    server.status = "FULL";
    open();
    pass(600);

    assertThat(server.trace).filteredOn(event -> event.contains("handshake")).hasSize(1);
    assertThat(statesByName()).containsOnly("Connecting", "Waiting");
    server.status = "ACTIVE";
    pass(15);
    assertThat(statesByName()).endsWith("Open");
    assertThat(server.created).isOne();
  }

  @Test
  void handshake_that_no_limit_refused_is_repeated_with_back_off() {
    server.handshakes.addAll(List.of(429, 503, 0));
    open();
    pass(60);

    assertThat(states)
        .filteredOn(SocketState.Reconnecting.class::isInstance)
        .extracting(state -> ((SocketState.Reconnecting) state).cause())
        .containsExactly(
            new Interruption.HandshakeRefused(429),
            new Interruption.HandshakeRefused(503),
            new Interruption.NoAnswer("no answer"));
    assertThat(statesByName()).endsWith("Open");
  }

  @Test
  void back_off_is_bounded_while_nobody_answers() {
    server.silent = true;
    open();
    pass(3600);

    assertThat(states)
        .filteredOn(SocketState.Reconnecting.class::isInstance)
        .hasSizeBetween(60, 120)
        .last()
        .satisfies(
            state -> assertThat(((SocketState.Reconnecting) state).attempt()).isGreaterThan(50));
    server.silent = false;
    pass(61);
    assertThat(statesByName()).endsWith("Open");
  }

  @Test
  void useless_retries_are_not_made() {
    assertClosed(
        "UNKNOWN",
        new CloseReason.UnknownTenant(),
        ScriptedServer.answer(404, problem("not-found")));
    assertClosed(
        "x", new CloseReason.Suspended(), ScriptedServer.answer(403, problem("suspended")));
    assertClosed(
        "x",
        new CloseReason.Forbidden("not-your-tenant"),
        ScriptedServer.answer(403, problem("not-your-tenant")));
    assertClosed(
        "x",
        new CloseReason.Invalid(400, "invalid-value"),
        ScriptedServer.answer(400, problem("invalid-value")));
    assertClosed(
        "without a type",
        new CloseReason.UnknownTenant(),
        ScriptedServer.answer(404, "{\"message\":\"Not Found\"}"));
  }

  @Test
  void session_that_is_not_found_is_over_whoever_says_so() {
    server.exchanges.add(ScriptedServer.answer(404, "{\"message\":\"Not Found\"}"));
    TollgateSocket socket = open(builder -> builder.session("s"));
    pass(5);

    assertThat(reconnectingCauses()).containsExactly(new Interruption.SessionOver());
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
  }

  private List<Interruption> reconnectingCauses() {
    return states.stream()
        .filter(SocketState.Reconnecting.class::isInstance)
        .map(state -> ((SocketState.Reconnecting) state).cause())
        .toList();
  }

  private static String problem(String type) {
    return "{\"type\":\"urn:tollgate:problem:%1$s\",\"detail\":\"%1$s\"}".formatted(type);
  }

  private void assertClosed(String name, CloseReason reason, Transport.Exchange answer) {
    server.exchanges.add(answer);
    TollgateSocket socket = open();
    pass(3600);
    assertThat(socket.state()).as(name).isEqualTo(new SocketState.Closed(reason));
    assertThat(socket.closed().toCompletableFuture()).isCompletedWithValue(reason);
    assertThat(result(socket.send("1"))).as("pending").isInstanceOf(NotSent.class);
  }

  @Test
  void handshake_that_the_server_does_not_understand_ends_the_socket() {
    server.handshakes.add(414);
    TollgateSocket socket = open();
    pass(1);

    assertThat(socket.state())
        .isEqualTo(
            new SocketState.Closed(new CloseReason.Invalid(414, "The handshake was refused.")));
  }

  @Test
  void expired_token_is_replaced_once() {
    List<String> tokens = new ArrayList<>();
    server.exchanges.add(ScriptedServer.answer(401, "{\"message\":\"Unauthorized\"}"));
    TollgateSocket socket =
        open(
            builder ->
                builder.token(
                    () -> {
                      tokens.add("t" + tokens.size());
                      return tokens.get(tokens.size() - 1);
                    }));
    pass(1);

    assertThat(tokens).containsExactly("t0", "t1");
    assertThat(socket.state()).isEqualTo(new SocketState.Open());

    for (int i = 0; i < 2; i++) {
      server.exchanges.add(ScriptedServer.answer(401, "{\"message\":\"Unauthorized\"}"));
    }
    TollgateSocket other = open();
    pass(1);
    assertThat(other.state())
        .isEqualTo(new SocketState.Closed(new CloseReason.Unauthorized("Unauthorized")));
  }

  @Test
  void too_many_sessions_are_not_asked_for_before_the_time() {
    server.exchanges.add(ScriptedServer.answer(429, problem("quota-exceeded"), 20));
    open();
    pass(1);

    assertThat(Duration.between(time.instant(), reconnecting().until()))
        .isBetween(Duration.ofSeconds(19), Duration.ofSeconds(30));
    pass(30);
    assertThat(statesByName()).endsWith("Open");
  }

  @Test
  void known_session_begins_with_a_handshake() {
    TollgateSocket first = open();
    pass(1);
    Session known = first.session().orElseThrow();
    server.trace.clear();

    open(builder -> builder.session(known.sessionId(), known.webSocketUrl()));
    pass(1);

    assertThat(server.trace).containsExactly("1000 handshake 101");
  }

  @Test
  void session_without_address_is_renewed_first() {
    TollgateSocket first = open();
    pass(1);
    server.trace.clear();

    open(builder -> builder.session(first.session().orElseThrow().sessionId()));
    pass(1);

    assertThat(server.trace).containsExactly("1000 PUT session", "1050 handshake 101");
  }

  @Test
  void session_that_is_over_is_replaced_unless_the_application_stops() {
    TollgateSocket replacing = open();
    TollgateSocket stopping = open(TollgateSocketBuilder::stopWhenSessionEnds);
    pass(1);
    Session old = replacing.session().orElseThrow();

    server.endSessions();
    pass(5);

    assertThat(replacing.state()).isEqualTo(new SocketState.Open());
    assertThat(replacing.session().orElseThrow()).isNotEqualTo(old);
    assertThat(stopping.state()).isEqualTo(new SocketState.Closed(new CloseReason.SessionEnded()));
  }

  @Test
  void tenant_that_is_suspended_ends_the_socket() {
    TollgateSocket socket = open();
    pass(1);

    server.status = "SUSPENDED";
    server.drop(1000);
    pass(1);

    assertThat(socket.state()).isEqualTo(new SocketState.Closed(new CloseReason.Suspended()));
  }

  @Test
  void socket_without_session_api_sends_no_request() {
    server.handshakes.addAll(List.of(429, 101));
    TollgateSocket socket =
        open(builder -> builder.session("s", ScriptedServer.SOCKETS).withoutSessionApi());
    pass(1000);
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
    server.drop(1006);
    pass(60);

    assertThat(socket.state())
        .as("403 cannot be explained")
        .isEqualTo(new SocketState.Closed(new CloseReason.SessionEnded()));
    assertThat(server.trace).noneMatch(event -> event.contains("PUT") || event.contains("GET"));
  }

  @Test
  void handshake_that_ends_after_the_socket_leaves_no_connection() {
    CompletableFuture<Transport.Handshake> handshake = new CompletableFuture<>();
    CompletableFuture<Transport.Connection> closed = new CompletableFuture<>();
    // With a scheduler of its own, which stops.
    TollgateSocket socket =
        TollgateSocket.builder(ScriptedServer.SESSIONS, "acme")
            .session("s", ScriptedServer.SOCKETS)
            .transport(new SlowHandshake(handshake))
            .open();
    socket.close();
    assertThat(closed).isNotDone();

    Transport.Connection connection = new ClosingConnection(closed);
    handshake.complete(new Transport.Handshake.Admitted(connection));

    assertThat(closed).isCompletedWithValue(connection);
  }

  @Test
  void connection_of_a_socket_that_was_closed_is_closed_once() {
    TollgateSocket socket = open();
    time.advance(Duration.ofMillis(70));
    socket.closeAsync();
    pass(1);

    assertThat(server.trace).containsExactly("0 PUT", "50 handshake 101", "100 client closes");
    assertThat(socket.state()).isEqualTo(new SocketState.Closed(new CloseReason.Requested()));
  }

  /** A network with one handshake. */
  private record SlowHandshake(CompletionStage<Handshake> handshake) implements Transport {
    @Override
    public CompletionStage<Exchange> call(String method, URI uri, Map<String, String> headers) {
      throw new AssertionError(method);
    }

    @Override
    public CompletionStage<Handshake> open(URI uri, Events events) {
      return handshake;
    }
  }

  /** A connection that tells that it was closed. */
  private record ClosingConnection(CompletableFuture<Transport.Connection> closed)
      implements Transport.Connection {
    @Override
    public void start() {
      throw new AssertionError("start");
    }

    @Override
    public CompletionStage<Boolean> send(String text) {
      throw new AssertionError(text);
    }

    @Override
    public CompletionStage<Boolean> close() {
      closed.complete(this);
      return CompletableFuture.completedFuture(true);
    }

    @Override
    public void abort() {
      throw new AssertionError("abort");
    }
  }

  @Test
  void token_that_cannot_be_had_is_asked_for_again() {
    Deque<String> tokens = new ArrayDeque<>(List.of("", "expired", "", "t"));
    server.exchanges.add(ScriptedServer.answer(401, "{}"));
    TollgateSocket socket =
        open(
            builder ->
                builder
                    .endSessionOnClose()
                    .token(
                        () -> {
                          String token = tokens.remove();
                          if (token.isEmpty()) {
                            throw new IllegalStateException("planted");
                          }
                          return token;
                        }));
    pass(5);

    assertThat(reconnectingCauses())
        .hasSize(2)
        .containsOnly(
            new Interruption.NoAnswer(
                "No headers for the request: java.lang.IllegalStateException: planted"));
    assertThat(socket.state()).isEqualTo(new SocketState.Open());

    tokens.add("");
    socket.closeAsync();
    pass(1);
    assertThat(socket.closed().toCompletableFuture())
        .isCompletedWithValue(new CloseReason.Requested());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "wss://x y",
        "https://sockets.example/production",
        "wss:x",
        "/production",
        "",
        "wss://x#f"
      })
  void address_that_is_not_a_web_socket_s_is_asked_for_again(String address) {
    server.exchanges.add(
        ScriptedServer.answer(
            201, "{\"sessionId\":\"s\",\"webSocketUrl\":\"%s\"}".formatted(address)));
    TollgateSocket socket = open();
    pass(5);

    assertThat(reconnectingCauses())
        .containsExactly(
            new Interruption.NoAnswer(
                "The answer is not that of a session API: " + ScriptedServer.SESSIONS));
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
  }

  @Test
  void transport_that_throws_is_used_again() {
    Deque<String> faults = new ArrayDeque<>(List.of("call", "open"));
    Transport broken =
        new Transport() {
          private void fail(String here) {
            if (here.equals(faults.peek())) {
              throw new IllegalArgumentException(faults.remove() + " secret");
            }
          }

          @Override
          public CompletionStage<Exchange> call(
              String method, URI uri, Map<String, String> headers) {
            fail("call");
            return server.call(method, uri, headers);
          }

          @Override
          public CompletionStage<Handshake> open(URI uri, Events events) {
            fail("open");
            return server.open(uri, events);
          }
        };
    TollgateSocket socket = open(builder -> builder.transport(broken));
    pass(5);

    assertThat(reconnectingCauses())
        .containsExactly(
            new Interruption.NoAnswer("The request cannot be sent: IllegalArgumentException"),
            new Interruption.NoAnswer("The handshake cannot begin: IllegalArgumentException"));
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
  }

  @Test
  void a_push_reaches_the_listener_byte_for_byte_and_answers_no_message() {
    server.replies = false;
    TollgateSocket socket = open(builder -> builder);
    pass(5);
    CompletionStage<SendResult> sent = socket.request("1");
    pass(1);
    connection().post("{\"type\":\"push\",\"id\":\"p-1\",\"message\":{ \"a\" : 1.0 }}");
    time.run();

    assertThat(events).contains("push p-1 { \"a\" : 1.0 }");
    assertThat(sent.toCompletableFuture()).isNotDone();
  }

  @Test
  void listener_that_always_throws_does_not_stop_the_socket() {
    Set<String> called = new TreeSet<>();
    SocketListener mistaken =
        (SocketListener)
            Proxy.newProxyInstance(
                SocketListener.class.getClassLoader(),
                new Class<?>[] {SocketListener.class},
                (proxy, method, arguments) -> {
                  called.add(method.getName());
                  throw new IllegalStateException("planted: " + method.getName());
                });
    server.handshakes.add(503);
    server.replies = false;
    TollgateSocket socket = open(builder -> builder.listener(mistaken));
    pass(5);
    socket.send("m-1", "1");
    pass(1);
    connection().post("{\"type\":\"message\",\"id\":\"m\",\"message\":2}");
    connection().post("{\"type\":\"push\",\"id\":\"p\",\"message\":2}");
    connection().post("{\"type\":\"error\",\"id\":\"m-1\",\"code\":\"X\",\"detail\":\"d\"}");
    connection()
        .post(
            "{\"type\":\"error\",\"id\":\"m-0\",\"code\":\"THROTTLED\",\"detail\":\"d\",\"retryAfterSeconds\":1}");
    time.run();
    server.replies = true;
    connection().post("{\"type\":\"reply\",\"id\":\"r\",\"message\":2}");
    time.run();
    server.drop(1006);
    pass(40);

    assertThat(socket.state()).isEqualTo(new SocketState.Open());
    CompletionStage<SendResult> sent = socket.request("3");
    pass(1);
    assertThat(result(sent)).isInstanceOf(SendResult.Replied.class);
    socket.closeAsync();
    pass(1);
    assertThat(socket.closed().toCompletableFuture())
        .isCompletedWithValue(new CloseReason.Requested());
    assertThat(called)
        .as("every method threw")
        .containsExactlyElementsOf(
            Stream.of(SocketListener.class.getMethods())
                .map(Method::getName)
                .collect(Collectors.toCollection(TreeSet::new)));
  }

  // Staying open

  @Test
  void idle_socket_stays_open_and_so_does_its_session() {
    TollgateSocket socket = open();
    pass(7200);

    assertThat(server.created).isOne();
    assertThat(events).isEmpty();
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
    assertThat(server.trace)
        .filteredOn(event -> event.contains("Heartbeat"))
        .hasSizeBetween(22, 24);
    assertThat(server.trace)
        .filteredOn(event -> event.contains("PUT session"))
        .as("renewals, every 100 s")
        .hasSizeBetween(68, 72);
    assertThat(statesByName()).containsExactly("Connecting", "Open");
  }

  @Test
  void connection_is_replaced_before_the_two_hours_are_over() {
    open();
    pass(111 * 60);

    assertThat(server.trace)
        .filteredOn(event -> event.contains("handshake") || event.contains("closes"))
        .hasSize(3)
        .last()
        .asString()
        .endsWith("client closes");
    assertThat(server.connections()).hasSize(1);
    assertThat(statesByName()).containsExactly("Connecting", "Open");
  }

  @Test
  void refused_replacement_leaves_the_connection_open() {
    open();
    pass(1);
    server.interval = Duration.ofSeconds(30);
    pass(89 * 60);
    server.crowd(50);
    pass(45 * 60);

    assertThat(statesByName()).containsExactly("Connecting", "Open");
    assertThat(server.trace)
        .filteredOn(event -> event.contains("handshake"))
        .extracting(event -> event.replaceFirst(".* ", ""))
        .containsExactly("101", "429", "101");
    assertThat(server.early).isZero();
  }

  @Test
  void silent_server_is_noticed() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    pass(320);

    assertThat(events).contains("disconnected 1006");
    server.silent = false;
    pass(60);
    assertThat(socket.state()).isEqualTo(new SocketState.Open());
  }

  @Test
  void dropped_connections_do_not_come_back_together() {
    List<Long> returns = new ArrayList<>();
    for (int seed = 0; seed < 20; seed++) {
      int fixed = seed;
      server.trace.clear();
      TollgateSocket socket = open(builder -> builder.random(new Random(fixed)));
      pass(20);
      server.trace.clear();
      Instant dropped = time.instant();
      server.drop(1006);
      pass(2);
      SocketState.Reconnecting back =
          (SocketState.Reconnecting)
              states.stream()
                  .filter(SocketState.Reconnecting.class::isInstance)
                  .reduce((a, b) -> b)
                  .orElseThrow();
      returns.add(Duration.between(dropped, back.until()).toMillis());
      socket.closeAsync();
      pass(1);
    }

    assertThat(returns).allMatch(millis -> millis < 1000).doesNotHaveDuplicates();
  }

  @Test
  void closing_keeps_the_session_unless_told_otherwise() {
    TollgateSocket keeping = open();
    TollgateSocket ending = open(TollgateSocketBuilder::endSessionOnClose);
    pass(1);

    keeping.closeAsync();
    pass(1);
    assertThat(server.trace).noneMatch(event -> event.contains("DELETE"));

    ending.closeAsync();
    pass(3600);
    assertThat(server.trace).filteredOn(event -> event.contains("DELETE")).hasSize(1);
    assertThat(ending.closed().toCompletableFuture())
        .isCompletedWithValue(new CloseReason.Requested());
    assertThat(server.trace).as("timers are cancelled").last().asString().contains("DELETE");
  }

  // Messages

  @Test
  void message_is_accepted_and_answered() {
    TollgateSocket socket = open();
    CompletionStage<SendResult> sent = socket.send("m-1", "{\"n\": 1.50}");
    CompletionStage<SendResult> asked = socket.request("2");
    assertThat(isPending(sent)).isTrue();
    pass(1);

    assertThat(result(sent)).isEqualTo(new SendResult.Accepted("m-1"));
    assertThat(result(asked))
        .isInstanceOfSatisfying(
            SendResult.Replied.class, reply -> assertThat(reply.json()).isEqualTo("\"done\""));
    assertThat(server.frames.get(0))
        .isEqualTo("{\"action\":\"PooledSQS\",\"id\":\"m-1\",\"message\":{\"n\": 1.50}}");
    assertThat(server.processed).containsExactly("{\"n\": 1.50}", "2");
    assertThat(events).hasSize(2).first().isEqualTo("reply m-1 \"done\"");
  }

  @Test
  void message_goes_through_the_silo_if_chosen() {
    open(builder -> builder.route(Route.SILO)).send("m", "1");
    pass(1);

    assertThat(server.frames).first().asString().startsWith("{\"action\":\"SiloSQS\"");
  }

  @Test
  void frames_of_other_sockets_are_told() {
    open();
    pass(1);
    connection().post("{\"type\":\"message\",\"id\":\"x\",\"message\":{\"a\":1e400}}");
    connection().post("{\"type\":\"news\"}");
    connection().post("no JSON");
    pass(1);

    assertThat(events).containsExactly("message x {\"a\":1e400}");
  }

  @Test
  void unanswered_message_is_sent_again_on_the_next_connection() {
    TollgateSocket socket = open();
    pass(20);
    CompletionStage<SendResult> sent = socket.send("m-1", "1");
    CompletionStage<SendResult> next = socket.send("m-2", "2");
    time.run();
    server.drop(1006);
    pass(2);

    assertThat(result(sent)).isEqualTo(new SendResult.Accepted("m-1"));
    assertThat(result(next)).isEqualTo(new SendResult.Accepted("m-2"));
    assertThat(server.frames).hasSize(4);
    assertThat(server.frames.subList(2, 4)).isEqualTo(server.frames.subList(0, 2));
    assertThat(server.processed).containsExactly("1", "2");
    assertThat(server.created).isOne();
  }

  @Test
  void message_is_not_sent_again_when_the_server_may_have_forgotten_it() {
    TollgateSocket socket = open();
    pass(20);
    CompletionStage<SendResult> sent = socket.send("m-1", "1");
    time.run();
    server.silent = true;
    server.drop(1006);
    CompletionStage<SendResult> queued = socket.send("m-2", "2");
    pass(241);
    server.silent = false;
    pass(60);

    assertThat(result(sent)).isEqualTo(new SendResult.Unanswered("m-1", false));
    assertThat(result(queued)).isEqualTo(new SendResult.Accepted("m-2"));
    assertThat(server.frames).hasSize(2);
  }

  @Test
  void throttled_message_is_sent_again_after_its_time_and_nothing_before() {
    TollgateSocket socket = open();
    server.replies = false;
    pass(1);
    CompletionStage<SendResult> first = socket.send("m-1", "1");
    server.throttled = 1;
    time.advance(Duration.ofMillis(200));
    server.throttled = 0;
    CompletionStage<SendResult> second = socket.send("m-2", "2");

    assertThat(result(first)).isEqualTo(new SendResult.Accepted("m-1"));
    assertThat(events).hasSize(1).first().asString().startsWith("throttled m-1 ");
    time.advance(Duration.ofMillis(700));
    assertThat(server.frames).hasSize(1);
    assertThat(isPending(second)).isTrue();
    pass(6);
    assertThat(server.processed).containsExactly("1", "2");
    assertThat(result(second)).isEqualTo(new SendResult.Accepted("m-2"));
  }

  @Test
  void each_throttled_message_is_sent_again_at_its_own_time_whatever_later_ones_were_told() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    for (String id : List.of("m-1", "m-2", "m-3")) {
      CompletionStage<SendResult> unused = socket.send(id, "1");
      time.run();
      connection().post("{\"type\":\"accepted\",\"id\":\"%s\"}".formatted(id));
      time.run();
    }
    for (int told : List.of(62, 2, 32)) {
      String id = "m-" + (told == 62 ? 3 : told == 2 ? 1 : 2);
      connection()
          .post(
              "{\"type\":\"error\",\"id\":\"%s\",\"code\":\"THROTTLED\",\"detail\":\"rate\",\"retryAfterSeconds\":%d}"
                  .formatted(id, told));
      time.run();
    }
    CompletionStage<SendResult> behind = socket.send("m-4", "1");
    server.frames.clear();
    server.silent = false;

    pass(3);
    assertThat(server.processed).as("after 3 s").hasSize(1);
    pass(30);
    assertThat(server.processed).as("after 33 s").hasSize(2);
    pass(25);
    assertThat(server.processed).as("after 58 s").hasSize(2);
    assertThat(isPending(behind)).isTrue();
    pass(5);
    assertThat(server.processed).as("after 63 s").hasSize(4);
  }

  @Test
  void request_that_is_throttled_all_the_time_is_told_so() {
    TollgateSocket socket = open();
    server.throttled = 1;
    CompletionStage<SendResult> asked = socket.request("1", Duration.ofSeconds(20));
    pass(21);

    assertThat(result(asked)).isInstanceOf(SendResult.Throttled.class);
    int sent = server.frames.size();
    pass(60);
    assertThat(server.frames).as("nothing more is sent").hasSize(sent);
  }

  private List<CompletionStage<SendResult>> sendAll(TollgateSocket socket, int count) {
    List<CompletionStage<SendResult>> results = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      results.add(socket.send("m-" + i, String.valueOf(i)));
    }
    time.run();
    return results;
  }

  private static List<String> numbers(int count) {
    return IntStream.range(0, count).mapToObj(String::valueOf).toList();
  }

  private void post(String frame, String id) {
    connection().post(frame.formatted(id));
    time.run();
  }

  private static final String ACCEPTED = "{\"type\":\"accepted\",\"id\":\"%s\"}";
  private static final String THROTTLED =
      "{\"type\":\"error\",\"id\":\"%s\",\"code\":\"THROTTLED\",\"detail\":\"rate\",\"retryAfterSeconds\":7}";

  @Test
  void hundred_messages_take_as_many_round_trips_as_windows() {
    server.latency = Duration.ofMillis(400);
    TollgateSocket socket = open();
    pass(2);
    CompletionStage<SendResult> one = socket.request("\"one\"");
    // The time until a reply: less than a second, so a reply and not the time ends a place.
    Duration roundTrip = server.latency.multipliedBy(2);
    time.advance(roundTrip.minusMillis(1));
    assertThat(isPending(one)).isTrue();
    time.advance(Duration.ofMillis(1));
    assertThat(isPending(one)).isFalse();
    server.processed.clear();
    server.frames.clear();

    List<CompletionStage<SendResult>> all = numbers(100).stream().map(socket::request).toList();
    for (int sent : List.of(32, 64, 96, 100)) {
      time.run();
      assertThat(server.frames).hasSize(sent);
      time.advance(roundTrip);
    }

    assertThat(all).allSatisfy(it -> assertThat(result(it)).isInstanceOf(SendResult.Replied.class));
    assertThat(server.processed).isEqualTo(numbers(100));
  }

  @Test
  void accepted_message_leaves_the_window_after_a_second_and_once() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    sendAll(socket, 40);
    assertThat(server.frames).hasSize(32);

    post(ACCEPTED, "m-0");
    time.advance(Duration.ofMillis(900));
    post(ACCEPTED, "m-0");
    assertThat(server.frames).as("it may still be refused").hasSize(32);
    time.advance(Duration.ofMillis(100));
    assertThat(server.frames).hasSize(33);
    time.advance(Duration.ofMillis(1_500));
    assertThat(server.frames).as("two answers to one message").hasSize(33);
  }

  @Test
  void refusal_that_overtakes_the_acceptance_is_not_undone_by_it() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    CompletionStage<SendResult> sent = sendAll(socket, 1).get(0);
    post(THROTTLED, "m-0");
    post(ACCEPTED, "m-0");
    assertThat(isPending(sent)).isTrue();
    server.silent = false;
    pass(6);
    assertThat(server.frames).hasSize(1);
    pass(2);
    assertThat(server.frames).hasSize(2);
    assertThat(result(sent)).isEqualTo(new SendResult.Accepted("m-0"));
  }

  @Test
  void flood_of_throttled_messages_never_has_more_than_a_window_under_way() {
    TollgateSocket socket = open();
    server.throttled = 1;
    pass(1);
    sendAll(socket, 200);
    time.advance(Duration.ofMillis(900));
    assertThat(events).filteredOn(event -> event.startsWith("throttled")).hasSize(32);
    server.throttled = 0;
    pass(60);
    assertThat(server.processed).hasSize(200).doesNotHaveDuplicates();
    assertThat(server.processed.subList(32, 200)).isEqualTo(numbers(200).subList(32, 200));
  }

  @Test
  void messages_under_way_are_sent_again_in_order_and_before_the_others_after_a_drop() {
    TollgateSocket socket = open();
    pass(20);
    sendAll(socket, 20);
    time.advance(Duration.ofMillis(20));
    server.drop(1006);
    server.frames.clear();
    for (int i = 20; i < 40; i++) {
      var unused = socket.send(String.valueOf(i));
    }
    pass(10);

    assertThat(server.frames).hasSize(40);
    assertThat(server.processed).isEqualTo(numbers(40));
    assertThat(server.frames.subList(0, 32))
        .extracting(frame -> frame.replaceFirst(".*\"message\":(.*)}", "$1"))
        .isEqualTo(numbers(32));
  }

  @Test
  void throttled_message_holds_back_those_behind_it_after_a_drop() {
    TollgateSocket socket = open();
    pass(20);
    server.silent = true;
    sendAll(socket, 3);
    post(THROTTLED, "m-0");
    server.silent = false;
    server.drop(1006);
    pass(5);
    assertThat(server.processed).isEmpty();
    pass(5);
    assertThat(server.processed).isEqualTo(numbers(3));
  }

  @Test
  void outage_that_is_told_for_each_message_under_way_is_one_failure() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    List<CompletionStage<SendResult>> sent = sendAll(socket, 32);
    for (int i = 0; i < 32; i++) {
      post("{\"type\":\"error\",\"code\":\"UNAVAILABLE\",\"detail\":\"d\"}", "");
    }
    server.silent = false;
    pass(2);

    assertThat(sent).noneMatch(TollgateSocketTest::isPending);
    assertThat(server.processed).isEqualTo(numbers(32));
  }

  @Test
  void biggest_message_under_way_fails_when_one_is_too_big_for_the_server() {
    TollgateSocket socket = open();
    pass(20);
    server.silent = true;
    CompletionStage<SendResult> before = socket.send("m-1", "1");
    CompletionStage<SendResult> big = socket.send("m-2", "\"" + "x".repeat(40_000) + "\"");
    CompletionStage<SendResult> after = socket.send("m-3", "3");
    time.run();
    server.silent = false;
    server.drop(1009);
    pass(3);

    assertThat(result(big)).isEqualTo(new NotSent("m-2", NotSent.Cause.TOO_BIG));
    assertThat(result(before)).isEqualTo(new SendResult.Accepted("m-1"));
    assertThat(result(after)).isEqualTo(new SendResult.Accepted("m-3"));
  }

  @Test
  void connection_that_loses_what_the_server_sends_is_replaced_while_a_reply_is_due() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    CompletionStage<SendResult> asked = socket.request("1", Duration.ofMinutes(6));
    time.run();
    post(ACCEPTED, server.frames.get(0).replaceFirst(".*\"id\":\"([^\"]*)\".*", "$1"));
    pass(19);
    assertThat(events).isEmpty();
    pass(2);
    assertThat(events).containsExactly("disconnected 1006");
    server.silent = false;
    pass(60);

    assertThat(result(asked)).as("sent again").isInstanceOf(SendResult.Replied.class);
  }

  @Test
  void refusals_are_final() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    CompletionStage<SendResult> noSilo = socket.send("m-1", "1");
    time.run();
    connection().post("{\"type\":\"error\",\"code\":\"NOT_SILO\",\"detail\":\"no queue\"}");
    time.run();
    CompletionStage<SendResult> suspended = socket.send("m-2", "2");
    time.run();
    connection().post("{\"type\":\"accepted\",\"id\":\"m-2\"}");
    connection()
        .post("{\"type\":\"error\",\"id\":\"m-2\",\"code\":\"SUSPENDED\",\"detail\":\"d\"}");
    time.run();

    assertThat(result(noSilo)).isEqualTo(new SendResult.Refused("m-1", "NOT_SILO", "no queue"));
    assertThat(result(suspended)).isEqualTo(new SendResult.Accepted("m-2"));
    assertThat(events).containsExactly("failed Refused[id=m-2, code=SUSPENDED, detail=d]");
    assertThat(server.frames).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"type\":\"error\",\"code\":\"UNAVAILABLE\",\"detail\":\"d\"}",
        "{\"message\":\"Too Many Requests\",\"connectionId\":\"c=\",\"requestId\":\"r=\"}"
      })
  void message_that_may_not_be_in_the_queue_is_sent_again(String frame) {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    CompletionStage<SendResult> sent = socket.send("m-1", "1");
    time.run();
    connection().post(frame);
    time.run();
    server.silent = false;
    pass(3);

    assertThat(result(sent)).isEqualTo(new SendResult.Accepted("m-1"));
    assertThat(server.processed).containsExactly("1");
  }

  @Test
  void accepted_message_whose_refusal_may_be_lost_is_sent_again() {
    server.replies = false;
    TollgateSocket socket = open();
    pass(20);
    socket.send("m-1", "1");
    time.advance(Duration.ofMillis(60));
    server.drop(1006);
    pass(2);

    assertThat(server.frames).hasSize(2);
    assertThat(server.processed).containsExactly("1");

    pass(20);
    server.drop(1006);
    pass(5);
    assertThat(server.frames).as("taken as processed").hasSize(2);
  }

  @Test
  void messages_of_a_session_that_is_over_are_not_sent_on_another() {
    TollgateSocket socket = open();
    pass(1);
    server.silent = true;
    CompletionStage<SendResult> sent = socket.send("m-1", "1");
    time.run();
    server.silent = false;
    server.endSessions();
    CompletionStage<SendResult> unsent = socket.send("m-2", "2");
    pass(5);

    assertThat(result(sent)).isEqualTo(new SendResult.Unanswered("m-1", false));
    assertThat(result(unsent)).isEqualTo(new SendResult.Accepted("m-2"));
    assertThat(server.processed).containsExactly("2");
  }

  @Test
  void queue_is_bounded() {
    server.status = "FULL";
    TollgateSocket socket = open(builder -> builder.maxQueued(2));
    List<CompletionStage<SendResult>> sent = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      sent.add(socket.send("m-" + i, "1"));
    }
    pass(1);

    assertThat(isPending(sent.get(0))).isTrue();
    assertThat(isPending(sent.get(1))).isTrue();
    assertThat(result(sent.get(2))).isEqualTo(new NotSent("m-2", NotSent.Cause.QUEUE_FULL));
    socket.closeAsync();
    pass(1);
    assertThat(result(sent.get(0))).isEqualTo(new NotSent("m-0", NotSent.Cause.CLOSED));
  }

  @Test
  void too_big_a_message_is_not_sent() {
    TollgateSocket socket = open();
    CompletionStage<SendResult> sent = socket.send("m", "\"" + "x".repeat(128 * 1024) + "\"");
    pass(1);

    assertThat(result(sent)).isEqualTo(new NotSent("m", NotSent.Cause.TOO_BIG));
    assertThat(server.frames).isEmpty();
  }

  @Test
  void request_ends_with_what_is_known() {
    server.status = "FULL";
    TollgateSocket socket = open();
    CompletionStage<SendResult> unsent = socket.request("1", Duration.ofSeconds(5));
    pass(6);
    assertThat(result(unsent))
        .isInstanceOfSatisfying(
            NotSent.class, it -> assertThat(it.cause()).isEqualTo(NotSent.Cause.TIMED_OUT));

    server.status = "ACTIVE";
    server.replies = false;
    pass(20);
    CompletionStage<SendResult> accepted = socket.request("1", Duration.ofSeconds(5));
    pass(6);
    assertThat(result(accepted))
        .isInstanceOfSatisfying(
            SendResult.Unanswered.class, it -> assertThat(it.accepted()).isTrue());
  }

  @Test
  void mistakes_of_the_application_are_told_at_once() {
    TollgateSocket socket = open();

    assertThatThrownBy(() -> socket.send("hello"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("message: hello (expected: one JSON value)");
    assertThatThrownBy(() -> socket.send("a b", "1"))
        .hasMessage("id: a b (expected: [A-Za-z0-9_-]{1,64})");
    assertThatThrownBy(() -> open(builder -> builder.maxQueued(0)))
        .hasMessage("maxQueued: 0 (expected: > 0)");
    assertThatThrownBy(() -> open(TollgateSocketBuilder::withoutSessionApi))
        .isInstanceOf(IllegalStateException.class);
  }
}
