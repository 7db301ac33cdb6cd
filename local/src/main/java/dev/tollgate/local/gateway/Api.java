package dev.tollgate.local.gateway;

import dev.tollgate.local.lambda.Invocation;
import io.undertow.server.HttpServerExchange;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An API behind the gateway. */
interface Api extends AutoCloseable {

  /**
   * Answers a request; may block.
   *
   * @param path the raw path below the API's id, empty or beginning with a slash
   */
  void handle(HttpServerExchange exchange, String path) throws Exception;

  /** Whether its CORS settings let pages of another origin ask it. */
  default boolean allows(String origin) {
    return false;
  }

  /** Ends what has lasted too long. */
  default void sweep() {}

  /** Waits until no event of this API is with a function, except those of requests. */
  default void settle() {}

  /** Ends everything. */
  @Override
  default void close() {}

  /** The end of an invocation, unless that is longer in coming than an integration may take. */
  static Optional<Invocation> await(CompletableFuture<Invocation> invocation, Duration patience) {
    try {
      return Optional.of(invocation.get(patience.toMillis(), TimeUnit.MILLISECONDS));
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
