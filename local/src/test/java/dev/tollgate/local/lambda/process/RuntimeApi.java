package dev.tollgate.local.lambda.process;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.Success;
import io.undertow.Undertow;
import io.undertow.server.HttpServerExchange;
import io.undertow.server.handlers.BlockingHandler;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The servers that one execution environment of Lambda has: the Runtime API, and the endpoint of
 * its credentials.
 *
 * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html">Using the Lambda
 *     runtime API</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/sdkref/latest/guide/feature-container-credentials.html">Container
 *     credential provider</a>
 */
final class RuntimeApi implements AutoCloseable {
  private static final String RUNTIME = "/2018-06-01/runtime/";
  private static final Pattern OF_INVOCATION =
      Pattern.compile("invocation/([^/]+)/(response|error)");
  private static final String CREDENTIALS = "/credentials";
  private static final String NOT_SAMPLED = "Root=1-00000000-000000000000000000000000;Sampled=0";
  private static final String SAMPLED =
      "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=1:a:0";

  private final DeployedFunction function;
  private final AccessKey credentials;
  private final Undertow server;
  private final String authorization = UUID.randomUUID().toString();
  private final AtomicInteger credentialsRead = new AtomicInteger();
  private final BlockingQueue<Optional<Invocation>> waiting = new LinkedBlockingQueue<>();
  private final Map<String, Invocation> running = new ConcurrentHashMap<>();

  /** Completed when the function is initialized, or with its error. */
  final CompletableFuture<Optional<Failure>> initialized = new CompletableFuture<>();

  /** Completed when the function first asks for an event, or with its error until then. */
  final CompletableFuture<Optional<Failure>> ready = new CompletableFuture<>();

  private record Invocation(
      String id, String event, Instant deadline, CompletableFuture<InvocationResult> result) {}

  RuntimeApi(DeployedFunction function, AccessKey credentials) {
    this.function = function;
    this.credentials = credentials;
    this.server =
        Undertow.builder()
            .setIoThreads(1)
            .setWorkerThreads(4)
            .addHttpListener(0, "127.0.0.1")
            .setHandler(new BlockingHandler(this::serve))
            .build();
    server.start();
  }

  /** Host and port: a value for {@code AWS_LAMBDA_RUNTIME_API}. */
  String address() {
    InetSocketAddress address = (InetSocketAddress) server.getListenerInfo().get(0).getAddress();
    return "127.0.0.1:" + address.getPort();
  }

  /** The variables that lead to the credentials. */
  Map<String, String> containerCredentials() {
    return Map.of(
        "AWS_CONTAINER_CREDENTIALS_FULL_URI",
        "http://" + address() + CREDENTIALS,
        "AWS_CONTAINER_AUTHORIZATION_TOKEN",
        authorization);
  }

  /** How often the credentials have been read. */
  int credentialsRead() {
    return credentialsRead.get();
  }

  /** Passes an event to the function when it asks for the next one. */
  CompletableFuture<InvocationResult> invoke(String event) {
    Invocation invocation =
        new Invocation(
            UUID.randomUUID().toString(),
            event,
            Instant.now().plus(function.timeout()),
            new CompletableFuture<>());
    running.put(invocation.id(), invocation);
    waiting.add(Optional.of(invocation));
    return invocation.result();
  }

  /** Fails all that waits for the function, because its process has ended. */
  void ended(String why) {
    IllegalStateException failure = new IllegalStateException(why);
    initialized.completeExceptionally(failure);
    ready.completeExceptionally(failure);
    running.values().forEach(one -> one.result().completeExceptionally(failure));
  }

  @Override
  public void close() {
    waiting.add(Optional.empty());
    server.stop();
  }

  private void serve(HttpServerExchange exchange) throws IOException, InterruptedException {
    String path = exchange.getRequestPath().replace(RUNTIME, "");
    Matcher ofInvocation = OF_INVOCATION.matcher(path);
    String id = ofInvocation.matches() ? ofInvocation.group(1) : "";
    String request =
        exchange.getRequestMethod() + " " + (id.isEmpty() ? path : path.replace(id, "{id}"));
    byte[] body = exchange.getInputStream().readAllBytes();
    switch (request) {
      case "GET " + CREDENTIALS -> credentials(exchange);
      case "GET restore/next" -> {
        initialized.complete(Optional.empty());
        answer(exchange, 200, "");
      }
      case "GET invocation/next" -> {
        initialized.complete(Optional.empty());
        ready.complete(Optional.empty());
        next(exchange);
      }
      case "POST invocation/{id}/response" -> {
        end(id, new Success(body));
        answer(exchange, 202, "");
      }
      case "POST invocation/{id}/error" -> {
        end(id, failure(body));
        answer(exchange, 202, "");
      }
      case "POST init/error", "POST restore/error" -> {
        Optional<Failure> failure = Optional.of(failure(body));
        initialized.complete(failure);
        ready.complete(failure);
        answer(exchange, 202, "");
      }
      default -> answer(exchange, 404, request);
    }
  }

  private void end(String id, InvocationResult result) {
    Optional.ofNullable(running.remove(id)).ifPresent(one -> one.result().complete(result));
  }

  private void next(HttpServerExchange exchange) throws InterruptedException {
    Optional<Invocation> next = waiting.take();
    if (next.isEmpty()) {
      return; // the environment is being closed
    }
    header(exchange, "Aws-Request-Id", next.get().id());
    header(exchange, "Deadline-Ms", Long.toString(next.get().deadline().toEpochMilli()));
    header(exchange, "Invoked-Function-Arn", function.arn());
    header(exchange, "Trace-Id", function.traced() ? SAMPLED : NOT_SAMPLED);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(next.get().event());
  }

  private static void header(HttpServerExchange exchange, String name, String value) {
    exchange.getResponseHeaders().put(new HttpString("Lambda-Runtime-" + name), value);
  }

  private void credentials(HttpServerExchange exchange) {
    if (!authorization.equals(exchange.getRequestHeaders().getFirst(Headers.AUTHORIZATION))) {
      answer(exchange, 403, "");
      return;
    }
    credentialsRead.incrementAndGet();
    Instant end = Instant.now().plus(Duration.ofHours(6)).truncatedTo(ChronoUnit.SECONDS);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    answer(
        exchange,
        200,
        Json.object()
            .put("AccessKeyId", credentials.accessKeyId())
            .put("SecretAccessKey", credentials.secretAccessKey())
            .put("Token", credentials.sessionToken())
            .put("Expiration", end.toString())
            .toString());
  }

  private static Failure failure(byte[] body) {
    JsonNode error = Json.readOrMissing(new String(body, StandardCharsets.UTF_8));
    List<String> trace = new ArrayList<>();
    error.path("stackTrace").forEach(frame -> trace.add(frame.asText()));
    return new Failure(
        error.path("errorType").asText(), error.path("errorMessage").asText(), trace);
  }

  private static void answer(HttpServerExchange exchange, int status, String body) {
    exchange.setStatusCode(status).getResponseSender().send(body);
  }
}
