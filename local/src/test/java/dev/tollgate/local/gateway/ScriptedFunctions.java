package dev.tollgate.local.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.Invoker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Functions that a test writes down, and the events that they got. */
public final class ScriptedFunctions implements Invoker, AutoCloseable {

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, Function<JsonNode, InvocationResult>> scripts =
      new ConcurrentHashMap<>();
  private final Map<String, List<JsonNode>> events = new ConcurrentHashMap<>();

  public void define(String function, Function<JsonNode, InvocationResult> script) {
    scripts.put(function, script);
  }

  /** A function of a route; API Gateway waits a minute for it. */
  static Integration.Function integration(String function) {
    return new Integration.Function(function, Duration.ofMinutes(1));
  }

  /** Answers the same to everything. */
  public void define(String function, String answer) {
    define(function, event -> success(answer));
  }

  /** An API whose routes are all served by functions and have no route responses. */
  static WebSocketApiSpec api(
      Map<String, String> routes, Optional<WebSocketApiSpec.Authorizer> authorizer) {
    Map<String, WebSocketApiSpec.Route> served = new HashMap<>();
    routes.forEach(
        (key, function) ->
            served.put(key, new WebSocketApiSpec.Route(integration(function), false)));
    return new WebSocketApiSpec(
        "ws1",
        "production",
        "$request.body.action",
        served,
        authorizer,
        RouteLimits.NONE,
        Map.of());
  }

  public static InvocationResult success(String answer) {
    return new InvocationResult.Success(answer.getBytes(StandardCharsets.UTF_8));
  }

  public static InvocationResult error(String message) {
    return new InvocationResult.Failure("java.lang.RuntimeException", message, List.of());
  }

  public List<JsonNode> events(String function) {
    return events.computeIfAbsent(function, name -> new CopyOnWriteArrayList<>());
  }

  /** Waits until a function has received events over a socket, and requires no more of them. */
  void await(String function, int count) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    synchronized (events) {
      while (events(function).size() < count && System.nanoTime() < end) {
        TimeUnit.NANOSECONDS.timedWait(events, end - System.nanoTime());
      }
    }
    assertThat(events(function)).hasSize(count);
  }

  @Override
  public CompletableFuture<InvocationResult> start(String function, byte[] payload) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            JsonNode event = new ObjectMapper().readTree(payload);
            synchronized (events) {
              events(function).add(event);
              events.notifyAll();
            }
            return scripts
                .getOrDefault(function, unknown -> new InvocationResult.NotFound(function))
                .apply(event);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        },
        threads);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
