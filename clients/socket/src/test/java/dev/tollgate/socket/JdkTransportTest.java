package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.socket.Transport.Connection;
import dev.tollgate.socket.Transport.Events;
import dev.tollgate.socket.Transport.Exchange;
import dev.tollgate.socket.Transport.Handshake;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.websockets.core.AbstractReceiveListener;
import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSockets;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The JDK's client against a real server. */
class JdkTransportTest {
  private final BlockingQueue<String> events = new LinkedBlockingQueue<>();
  private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
  private final Transport transport = new JdkTransport(HttpClient.newHttpClient());
  private final Undertow server =
      Undertow.builder().addHttpListener(0, "127.0.0.1").setHandler(this::handle).build();
  private String authority = "";

  private final Events listener =
      new Events() {
        @Override
        public void text(String text) {
          events.add(text.length() > 100 ? String.valueOf(text.length()) : text);
        }

        @Override
        public void closed(int code, String reason) {
          events.add("closed " + code);
        }
      };

  @BeforeEach
  void start() {
    server.start();
    authority =
        "127.0.0.1:" + ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
  }

  @AfterEach
  void stop() {
    server.stop();
  }

  private void handle(HttpServerExchange exchange) throws Exception {
    switch (exchange.getRequestPath()) {
      case "/socket" ->
          Handlers.websocket((request, channel) -> accept(channel)).handleRequest(exchange);
      case "/reset" -> exchange.getConnection().close();
      default -> exchange.setStatusCode(429).getResponseHeaders().put(Headers.RETRY_AFTER, "7");
    }
    if (exchange.getRequestPath().equals("/limited")) {
      received.add(
          exchange.getRequestMethod() + " " + exchange.getRequestHeaders().getFirst("X-Token"));
      exchange.getResponseSender().send("{\"detail\":\"d\"}");
    }
  }

  private void accept(WebSocketChannel channel) {
    channel
        .getReceiveSetter()
        .set(
            new AbstractReceiveListener() {
              @Override
              protected void onFullTextMessage(WebSocketChannel from, BufferedTextMessage message) {
                String text = message.getData();
                received.add(String.valueOf(text.length()));
                if (text.equals("close")) {
                  WebSockets.sendClose(1001, "bye", channel, null);
                } else {
                  WebSockets.sendText(text, channel, null);
                }
              }
            });
    channel.resumeReceives();
    WebSockets.sendText("first", channel, null);
  }

  /** Forwards one connection to the server; closing the result resets it. */
  private Socket forwarded(ServerSocket listener) throws IOException {
    Socket client = listener.accept();
    Socket upstream =
        new Socket(InetAddress.getLoopbackAddress(), URI.create("ws://" + authority).getPort());
    client.setSoLinger(true, 0);
    var unusedThere = CompletableFuture.runAsync(() -> copy(client, upstream));
    var unusedBack = CompletableFuture.runAsync(() -> copy(upstream, client));
    return client;
  }

  private static void copy(Socket from, Socket to) {
    try (from;
        to) {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException reset) {
      // The connection has ended.
    }
  }

  private Handshake open(String path) {
    return open(authority, path);
  }

  private Handshake open(String at, String path) {
    return transport.open(URI.create("ws://" + at + path), listener).toCompletableFuture().join();
  }

  private Connection connected() {
    return ((Handshake.Admitted) open("/socket")).connection();
  }

  private static String next(BlockingQueue<String> queue) throws InterruptedException {
    return Optional.ofNullable(queue.poll(1, TimeUnit.MINUTES))
        .orElseThrow(() -> new AssertionError("nothing came"));
  }

  @Test
  void answers_have_status_body_and_the_time_to_come_back() throws InterruptedException {
    Exchange answer =
        transport
            .call("PUT", URI.create("http://" + authority + "/limited"), Map.of("X-Token", "t"))
            .toCompletableFuture()
            .join();

    assertThat(answer)
        .isEqualTo(
            new Exchange.Answer(429, Optional.of(Duration.ofSeconds(7)), "{\"detail\":\"d\"}"));
    assertThat(next(received)).isEqualTo("PUT t");
  }

  @Test
  void requests_without_answer_fail() throws IOException {
    assertThat(
            transport
                .call("GET", URI.create("http://" + authority + "/reset"), Map.of())
                .toCompletableFuture()
                .join())
        .isInstanceOf(Exchange.Failed.class);
    assertThat(open("/reset")).isInstanceOf(Handshake.Failed.class);
    int unused;
    try (ServerSocket free = new ServerSocket(0)) {
      unused = free.getLocalPort();
    }
    assertThat(
            transport
                .open(URI.create("ws://127.0.0.1:" + unused), listener)
                .toCompletableFuture()
                .join())
        .isInstanceOfSatisfying(
            Handshake.Failed.class,
            failed -> assertThat(failed.detail()).startsWith("ConnectException"));
  }

  @Test
  void refused_handshakes_have_their_status() {
    assertThat(open("/limited")).isEqualTo(new Handshake.Refused(429));
  }

  @Test
  void texts_come_after_the_start_and_long_ones_whole() throws InterruptedException {
    Connection connection = connected();
    connection.start();
    String text = "ü\uD83D\uDE00".repeat(15_000);

    assertThat(connection.send(text).toCompletableFuture().join()).isTrue();

    assertThat(next(events)).isEqualTo("first");
    assertThat(next(received)).isEqualTo("45000");
    assertThat(next(events)).isEqualTo("45000");
  }

  @Test
  void texts_that_are_sent_at_once_come_in_order() throws InterruptedException {
    Connection connection = connected();
    connection.start();
    CompletableFuture<?>[] sent =
        Stream.of(40_000, 1, 20_000, 2)
            .map(length -> connection.send("x".repeat(length)).toCompletableFuture())
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(sent).join();

    assertThat(sent).allSatisfy(each -> assertThat(each.join()).isEqualTo(true));
    for (String length : List.of("40000", "1", "20000", "2")) {
      assertThat(next(received)).isEqualTo(length);
    }
  }

  @Test
  void close_by_the_server_and_loss_are_told() throws Exception {
    Connection closing = connected();
    closing.start();
    var unused = closing.send("close");
    assertThat(next(events)).isEqualTo("first");
    assertThat(next(events)).isEqualTo("closed 1001");

    try (ServerSocket forwarder = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      CompletableFuture<Socket> socket =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return forwarded(forwarder);
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
      Handshake handshake = open("127.0.0.1:" + forwarder.getLocalPort(), "/socket");
      ((Handshake.Admitted) handshake).connection().start();
      assertThat(next(events)).isEqualTo("first");
      socket.join().close();
      assertThat(next(events)).isEqualTo("closed 1006");
    }
  }
}
