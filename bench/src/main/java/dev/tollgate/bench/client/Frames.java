package dev.tollgate.bench.client;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;

/** The frames that a socket has received and that were not read yet. */
class Frames implements WebSocket.Listener {
  final BlockingQueue<JsonNode> received = new LinkedBlockingQueue<>();

  /** Completes when either side closes the socket. */
  final CompletableFuture<String> closed = new CompletableFuture<>();

  private final StringBuilder text = new StringBuilder();

  /** The frames of a client that never reads: it requests no frame, not even the first. */
  static final class Unread extends Frames {
    @Override
    public void onOpen(WebSocket socket) {
      // The default method would request the first frame.
    }
  }

  @Override
  public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
    text.append(data);
    if (last) {
      try {
        received.add(Http.JSON.readTree(text.toString()));
      } catch (JsonProcessingException e) {
        closed.completeExceptionally(e);
        socket.abort();
      }
      text.setLength(0);
    }
    return WebSocket.Listener.super.onText(socket, data, last);
  }

  @Override
  public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
    closed.complete(code + " " + reason);
    return WebSocket.Listener.super.onClose(socket, code, reason);
  }

  @Override
  public void onError(WebSocket socket, Throwable error) {
    closed.completeExceptionally(error);
  }
}
