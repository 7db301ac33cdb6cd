package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Response;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A deployment as its users see it: the two HTTP APIs, and the WebSockets. */
public interface Deployment {
  /** Sends a request to the control plane. */
  Response control(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers);

  /** Sends a request without further headers to the control plane. */
  default Response control(String method, String path, Optional<JsonNode> body) {
    return control(method, path, body, Map.of());
  }

  /** Whether the WebSocket API is the application's own: then there is no session API. */
  default boolean isAttached() {
    return false;
  }

  /** Sends a request of a tenant to the session API. */
  Response sessions(String method, String tenantId, Optional<String> sessionId);

  /**
   * Starts a WebSocket handshake.
   *
   * @param parameters the query of the handshake; at an attached API, the tenant's id alone, or
   *     nothing
   * @param listener receives what the server sends
   */
  CompletableFuture<Handshake> handshake(Map<String, String> parameters, Listener listener);

  /** The result of a handshake. */
  sealed interface Handshake {
    /** The server opened the socket. */
    record Admitted(Socket socket) implements Handshake {}

    /** The server refused with an HTTP status. */
    record Refused(int status) implements Handshake {}
  }

  /** The client's end of an open socket. */
  interface Socket {
    void send(String text);

    /** Starts the close handshake; does nothing if the socket is closed. */
    void close();
  }

  /** Receives what the server sends on a socket. */
  interface Listener {
    void frame(String text);

    /** The socket is closed, with this code; 1006 if the connection broke. */
    void closed(int code);
  }
}
