package dev.tollgate.local.gateway;

import dev.tollgate.local.lambda.InvocationResult;
import io.undertow.server.HttpServerExchange;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An API that the gateway serves. */
interface Api extends AutoCloseable {
  /**
   * Answers a request; may block.
   *
   * @param path the raw path below the API's id, empty or beginning with a slash
   */
  void handle(HttpServerExchange exchange, String path) throws Exception;

  /** Whether the CORS settings allow requests from pages of an origin. */
  default boolean allows(String origin) {
    return false;
  }

  /** Closes connections that exceeded a limit. */
  default void sweep() {}

  /** Waits until all events of this API are processed, except those of requests. */
  default void settle() {}

  /** Closes all connections. */
  @Override
  default void close() {}

  /** The result of an invocation; empty if it takes longer than an integration may. */
  static Optional<InvocationResult> await(
      CompletableFuture<InvocationResult> invocation, Duration timeout) {
    try {
      return Optional.of(invocation.get(timeout.toMillis(), TimeUnit.MILLISECONDS));
    } catch (TimeoutException e) {
      return Optional.empty();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the gateway is closing", e);
    }
  }
}
