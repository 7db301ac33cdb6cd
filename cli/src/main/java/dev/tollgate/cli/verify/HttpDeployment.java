package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A deployment at the addresses in its outputs. */
public final class HttpDeployment implements Deployment {
  /** Longer than API Gateway waits for the functions behind a handshake. */
  private static final Duration HANDSHAKE_TIMEOUT = Duration.ofSeconds(35);

  /** Until the body of a refusal is complete, which the client's own time limit leaves out. */
  private static final long HANDSHAKE_SECONDS = HANDSHAKE_TIMEOUT.toSeconds() + 5;

  private static final long FRAME_SECONDS = 30;

  /** The code of a connection that ends without a close frame (RFC 6455, section 7.4.1). */
  private static final int ABNORMAL = 1006;

  private final Sender control;
  private final Function<String, Sender> sessions;
  private final URI sockets;
  private final HttpClient client = Api.client();

  /**
   * @param sessions the session API as a tenant calls it
   * @param sockets the address of the WebSocket API
   */
  public HttpDeployment(Sender control, Function<String, Sender> sessions, URI sockets) {
    this.control = control;
    this.sessions = sessions;
    this.sockets = sockets;
  }

  @Override
  public Response control(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    return control.send(method, path, body, headers);
  }

  @Override
  public Response sessions(String method, String tenantId, Optional<String> sessionId) {
    Map<String, String> parameters = new LinkedHashMap<>();
    parameters.put("tenantId", tenantId);
    sessionId.ifPresent(id -> parameters.put("sessionId", id));
    return sessions
        .apply(tenantId)
        .send(method, "?" + Api.query(parameters), Optional.empty(), Map.of());
  }

  @Override
  public CompletableFuture<Handshake> handshake(Map<String, String> parameters, Listener listener) {
    return handshake(Api.query(parameters), listener);
  }

  /** Starts a WebSocket handshake with this query. */
  CompletableFuture<Handshake> handshake(String query, Listener listener) {
    URI address = URI.create(sockets + "?" + query);
    return client
        .newWebSocketBuilder()
        .connectTimeout(HANDSHAKE_TIMEOUT)
        .buildAsync(address, new Frames(listener))
        .orTimeout(HANDSHAKE_SECONDS, TimeUnit.SECONDS)
        .handle((socket, thrown) -> result(address, socket, thrown));
  }

  private static Handshake result(
      URI address, @Nullable WebSocket socket, @Nullable Throwable thrown) {
    if (socket != null) {
      return new Handshake.Admitted(new OpenSocket(socket));
    }
    Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
    if (cause instanceof WebSocketHandshakeException refused) {
      return new Handshake.Refused(refused.getResponse().statusCode());
    }
    if (cause instanceof ConnectException unreachable) {
      throw Failure.unreachable(address, unreachable);
    }
    throw Failure.of(
        "No WebSocket at "
            + address.getAuthority()
            + (cause instanceof TimeoutException
                ? ": no complete answer to the handshake within " + HANDSHAKE_SECONDS + " s"
                : ": " + cause));
  }

  private record OpenSocket(WebSocket socket) implements Socket {
    @Override
    public void send(String text) {
      try {
        socket.sendText(text, true).orTimeout(FRAME_SECONDS, TimeUnit.SECONDS).join();
      } catch (CompletionException e) {
        throw Failure.of("Cannot send on a socket: " + e.getCause(), e);
      }
    }

    @Override
    public void close() {
      if (!socket.isOutputClosed()) {
        var unused = socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
      }
    }
  }

  /** Joins the parts of each frame. */
  private static final class Frames implements WebSocket.Listener {
    private final Listener listener;
    private final StringBuilder text = new StringBuilder();

    private Frames(Listener listener) {
      this.listener = listener;
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        listener.frame(text.toString());
        text.setLength(0);
      }
      return WebSocket.Listener.super.onText(socket, data, last);
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      listener.closed(code);
      return WebSocket.Listener.super.onClose(socket, code, reason);
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      listener.closed(ABNORMAL);
    }
  }
}
