package dev.tollgate.local.gateway;

import io.undertow.server.HttpServerExchange;

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
}
