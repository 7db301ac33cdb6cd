package dev.tollgate.cli;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.local.Cloud;
import dev.tollgate.cli.terminal.Shell;
import io.undertow.Handlers;
import io.undertow.Undertow;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import io.undertow.websockets.core.AbstractReceiveListener;
import io.undertow.websockets.core.BufferedTextMessage;
import io.undertow.websockets.core.CloseMessage;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSockets;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * A deployment with scripted responses, which records its requests. Commands run against it as the
 * launcher runs them, except that they run in this JVM and do not wait.
 */
public final class StubDeployment implements AutoCloseable {

  /** A received request. */
  public record Request(String method, String path, String body) {}

  /**
   * The result of a command.
   *
   * @param target the line on standard error that shows the target of a change; may be empty
   * @param err the other lines on standard error
   */
  public record Run(int exitCode, String out, String target, String err, List<Duration> waits) {
    private static Run of(int exitCode, String out, String err, List<Duration> waits) {
      int end = err.startsWith("Target: ") ? err.indexOf('\n') + 1 : 0;
      return new Run(exitCode, out, err.substring(0, end), err.substring(end), waits);
    }
  }

  /** A response to one request; status 0 closes the connection without one. */
  public record Response(int status, String body, Map<String, String> headers) {}

  /** Responds to requests; empty for those that get a scripted response. */
  @FunctionalInterface
  public interface Responder {
    Optional<Response> answer(Request request, Optional<String> ifMatch);
  }

  private static final Pattern ID = Pattern.compile(".*\"id\":\"([^\"]*)\".*", Pattern.DOTALL);

  private final Path directory;
  private final Map<String, Queue<Response>> responses = new ConcurrentHashMap<>();
  private final Deque<Integer> handshakes = new ArrayDeque<>();
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private final List<String> conditions = new CopyOnWriteArrayList<>();
  private final List<String> authorizations = new CopyOnWriteArrayList<>();
  private final List<String> sockets = new CopyOnWriteArrayList<>();
  private final Undertow server;
  private final URI uri;
  private final Set<WebSocketChannel> channels = ConcurrentHashMap.newKeySet();
  private final Deque<List<String>> frames = new ArrayDeque<>();
  private String closingText = "";
  private boolean closesOnce;
  private Responder responder = (request, ifMatch) -> Optional.empty();
  private final Map<String, String> environment = new ConcurrentHashMap<>();
  private Optional<UnaryOperator<String>> ask = Optional.empty();
  private String input = "";

  public StubDeployment(Path directory) throws IOException {
    this.directory = directory;
    server =
        Undertow.builder()
            .addHttpListener(0, "127.0.0.1")
            .setHandler(exchange -> handle(exchange))
            .build();
    server.start();
    int port = ((InetSocketAddress) server.getListenerInfo().get(0).getAddress()).getPort();
    uri = URI.create("http://127.0.0.1:" + port);
    Path outputs = directory.resolve(Outputs.DEFAULT);
    Files.createDirectories(directory.resolve(".tollgate"));
    Files.writeString(
        outputs,
        """
        {"Tollgate":{
          "SessionURL":"%1$s/api/session",
          "TenantURL":"%1$s/api/tenant",
          "WebSocketURL":"%2$s/production",
          "ControlPlaneURL":"%1$s/control/"}}
        """
            .formatted(uri, webSocketUri()));
    environment.put("XDG_CONFIG_HOME", directory.toString());
    addContext(Context.LOCAL, outputs);
  }

  /** Adds a context for an outputs file, as {@code tollgate up} does. */
  public StubDeployment addContext(String name, Path outputs) {
    Outputs read = Outputs.read("test", outputs, Optional.empty());
    Context context = Context.of(name, read, Optional.empty(), Optional.empty(), false);
    ContextFile.update(directory.resolve("tollgate"), file -> file.with(context));
    return this;
  }

  /** Sets an environment variable of the command. */
  public StubDeployment environment(String name, String value) {
    environment.put(name, value);
    return this;
  }

  public URI uri() {
    return uri;
  }

  public String webSocketUri() {
    return uri.toString().replaceFirst("^http", "ws");
  }

  /** Scripts the responses to the next such requests; the last response stays. */
  public StubDeployment answers(String request, int status, String body) {
    return answers(request, status, body, Map.of());
  }

  public StubDeployment answers(
      String request, int status, String body, Map<String, String> headers) {
    responses
        .computeIfAbsent(request, key -> new ConcurrentLinkedQueue<>())
        .add(new Response(status, body, headers));
    return this;
  }

  /** Scripts the statuses of the next handshakes; 101 admits. */
  public StubDeployment handshakes(Integer... statuses) {
    handshakes.addAll(List.of(statuses));
    return this;
  }

  /** Installs a responder that is asked before the scripted responses. */
  public StubDeployment answersWith(Responder first) {
    responder = first;
    return this;
  }

  /** Sets the standard input of the command. */
  public StubDeployment piped(String text) {
    input = text;
    return this;
  }

  /** Simulates a terminal whose user replies with y or n to every question. */
  public StubDeployment confirmedBy(Predicate<String> answer) {
    return repliesWith(prompt -> answer.test(prompt) ? "y" : "n");
  }

  /** Simulates a terminal whose user replies to every prompt. */
  public StubDeployment repliesWith(UnaryOperator<String> replies) {
    ask = Optional.of(replies);
    return this;
  }

  /** Sends a text on each socket and closes it; a command that waits receives both. */
  public StubDeployment sendsAndCloses(String text) {
    closingText = text;
    return this;
  }

  /**
   * Scripts the frames that the next message is answered with, on every socket; the last answer
   * stays. {@code $id} stands for the message's id.
   */
  public StubDeployment answersMessages(String... texts) {
    frames.add(List.of(texts));
    return this;
  }

  /** As {@link #sendsAndCloses}, on the first socket only. */
  public StubDeployment sendsAndClosesOnce(String text) {
    closesOnce = true;
    return sendsAndCloses(text);
  }

  public List<Request> requests() {
    return requests;
  }

  /** The headers {@code Authorization} of the requests, in their order. */
  public List<String> authorizations() {
    return authorizations;
  }

  /** The {@code If-Match} headers of the requests that had one. */
  public List<String> conditions() {
    return conditions;
  }

  /** The paths and queries of the handshakes, admitted or refused. */
  public List<String> sockets() {
    return sockets;
  }

  public Run run(String... arguments) {
    return run(
        settings -> {
          throw new AssertionError("no local cloud is expected to start");
        },
        arguments);
  }

  public Run run(Cloud.Starter starter, String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<Duration> waits = Collections.synchronizedList(new ArrayList<>());
    AtomicLong nanos = new AtomicLong();
    Shell shell =
        new Shell(
            new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
            new PrintWriter(out),
            new PrintWriter(err),
            directory,
            Optional.empty(),
            environment,
            ask.map(Shell.Terminal::new),
            nanos::get,
            time -> {
              waits.add(time);
              while (!closingText.isEmpty() && !out.toString().contains("closed")) {
                Thread.onSpinWait();
              }
              nanos.addAndGet(time.toNanos());
              if (time.compareTo(Duration.ofDays(1)) > 0) {
                throw new InterruptedException("Ctrl-C");
              }
            });
    int exitCode = Main.commandLine(shell, starter, arguments).execute(arguments);
    return Run.of(exitCode, out.toString(), err.toString(), waits);
  }

  private void handle(HttpServerExchange exchange) throws Exception {
    if (exchange.getRequestPath().startsWith("/production")) {
      sockets.add(exchange.getRequestPath() + "?" + exchange.getQueryString());
      int status = handshakes.isEmpty() ? 101 : handshakes.remove();
      if (status == 101) {
        Handlers.websocket((request, channel) -> openSocket(channel)).handleRequest(exchange);
      } else {
        exchange.setStatusCode(status).endExchange();
      }
      return;
    }
    HttpHandler answer = this::answer;
    new BlockingHandler(answer).handleRequest(exchange);
  }

  private void openSocket(WebSocketChannel channel) {
    channels.add(channel);
    channel
        .getReceiveSetter()
        .set(
            new AbstractReceiveListener() {
              @Override
              protected void onFullTextMessage(WebSocketChannel from, BufferedTextMessage message) {
                String text = message.getData();
                if (text.equals("{\"action\":\"Heartbeat\"}")) {
                  requests.add(new Request("HEARTBEAT", "", ""));
                  WebSockets.sendText(Documents.BAD_FRAME, channel, null);
                  return;
                }
                String id = ID.matcher(text).replaceFirst("$1");
                requests.add(new Request("SEND", "", text.replace(id, "$id")));
                List<String> answers =
                    Optional.ofNullable(frames.size() > 1 ? frames.remove() : frames.peek())
                        .orElse(List.of());
                for (String answer : answers) {
                  channels.forEach(to -> WebSockets.sendText(answer.replace("$id", id), to, null));
                }
              }
            });
    channel.resumeReceives();
    if (!closingText.isEmpty() && !(closesOnce && sockets.size() > 1)) {
      WebSockets.sendText(closingText, channel, null);
      WebSockets.sendClose(CloseMessage.GOING_AWAY, "session ended", channel, null);
    }
  }

  private void answer(HttpServerExchange exchange) throws IOException {
    String query = exchange.getQueryString();
    String path = exchange.getRequestURI() + (query.isEmpty() ? "" : "?" + query);
    String method = exchange.getRequestMethod().toString();
    byte[] body = exchange.getInputStream().readAllBytes();
    Optional<String> ifMatch =
        Optional.ofNullable(exchange.getRequestHeaders().getFirst(Headers.IF_MATCH));
    ifMatch.ifPresent(conditions::add);
    Optional.ofNullable(exchange.getRequestHeaders().getFirst(Headers.AUTHORIZATION))
        .ifPresent(authorizations::add);
    Request request = new Request(method, path, new String(body, StandardCharsets.UTF_8));
    requests.add(request);
    Response response =
        responder.answer(request, ifMatch).orElseGet(() -> scripted(method + " " + path));
    if (response.status() == 0) {
      exchange.getConnection().close();
      return;
    }
    exchange.setStatusCode(response.status());
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    response
        .headers()
        .forEach((name, value) -> exchange.getResponseHeaders().put(new HttpString(name), value));
    exchange.getResponseSender().send(response.body());
  }

  private Response scripted(String request) {
    Queue<Response> queue = responses.getOrDefault(request, new ArrayDeque<>());
    return Optional.ofNullable(queue.size() > 1 ? queue.remove() : queue.peek())
        .orElse(new Response(418, "unexpected: " + request, Map.of()));
  }

  @Override
  public void close() {
    server.stop();
  }
}
