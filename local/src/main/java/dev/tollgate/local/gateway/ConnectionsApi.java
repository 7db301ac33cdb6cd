package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The API Gateway Management API: sends to, describes and closes the connections of a WebSocket
 * API. Requests must be signed, but the signature is not verified.
 *
 * <p>The socket of a client that does not read is closed when a message to it has waited for three
 * seconds. AWS documents that a message is refused while "the client-side buffer is full", but not
 * what happens to the socket.
 */
final class ConnectionsApi implements HttpHandler {
  private static final Pattern PATH = Pattern.compile("/([^/]+)/([^/]+)/@connections/([^/]+)");

  /**
   * How long a message waits for a client that does not read, before the client's socket is closed.
   */
  static final Duration MAX_SEND_TIME = Duration.ofSeconds(3);

  /** The close code for clients that violate a policy (RFC 6455, section 7.4). */
  private static final int POLICY_VIOLATION = 1008;

  private final Map<String, Api> apis;
  private final InstantSource clock;
  private final Duration maxSendTime;

  ConnectionsApi(Map<String, Api> apis, InstantSource clock, Duration maxSendTime) {
    this.apis = apis;
    this.clock = clock;
    this.maxSendTime = maxSendTime;
  }

  /** Whether a raw path belongs to this API. */
  static boolean isConnections(String rawPath) {
    return PATH.matcher(Requests.decode(rawPath)).matches();
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) throws IOException {
    if (!exchange.getRequestHeaders().contains(Headers.AUTHORIZATION)) {
      refuse(exchange, 403, "MissingAuthenticationTokenException", "Missing Authentication Token");
      return;
    }
    Optional<Connection> found = find(Requests.decode(Requests.rawPath(exchange)));
    if (found.isEmpty()) {
      refuse(exchange, 410, "GoneException", "Gone");
      return;
    }
    switch (exchange.getRequestMethod().toString()) {
      case "POST" -> post(exchange, found.get());
      case "GET" -> Requests.reply(exchange, 200, describe(found.get()));
      case "DELETE" -> {
        var unused = found.get().close(1000, "Connection closed by the server");
        exchange.setStatusCode(204).endExchange();
      }
      default -> refuse(exchange, 405, "MethodNotAllowedException", "Method not allowed");
    }
  }

  private Optional<Connection> find(String path) {
    Matcher parts = PATH.matcher(path);
    return parts.matches()
            && apis.get(parts.group(1)) instanceof WebSocketApi api
            && api.stage().equals(parts.group(2))
        ? api.connection(parts.group(3))
        : Optional.empty();
  }

  private void post(HttpServerExchange exchange, Connection connection) throws IOException {
    String data = Call.of(exchange).body();
    if (data.getBytes(StandardCharsets.UTF_8).length > Frames.MAX_MESSAGE_BYTES) {
      refuse(exchange, 413, "PayloadTooLargeException", "Message too long");
      return;
    }
    try {
      connection.send(data).orTimeout(maxSendTime.toMillis(), TimeUnit.MILLISECONDS).join();
      connection.active(clock.instant());
      exchange.endExchange();
    } catch (CompletionException | CancellationException e) {
      if (e.getCause() instanceof TimeoutException) {
        var unused = connection.close(POLICY_VIOLATION, "The client does not read");
        refuse(exchange, 429, "LimitExceededException", "The client-side buffer is full");
      } else {
        refuse(exchange, 410, "GoneException", "Gone");
      }
    }
  }

  private static ObjectNode describe(Connection connection) {
    ObjectNode description = Json.object();
    description.put("connectedAt", connection.connectedAt.toString());
    description.put("lastActiveAt", connection.lastActiveAt().toString());
    description.set("identity", connection.identity());
    return description;
  }

  private static void refuse(HttpServerExchange exchange, int status, String type, String message) {
    exchange.getResponseHeaders().put(new HttpString("x-amzn-ErrorType"), type);
    Requests.reply(exchange, status, message);
  }
}
