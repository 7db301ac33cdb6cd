package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.undertow.websockets.core.CloseMessage;
import io.undertow.websockets.core.WebSocketCallback;
import io.undertow.websockets.core.WebSocketChannel;
import io.undertow.websockets.core.WebSockets;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.xnio.IoUtils;

/**
 * A WebSocket connection whose {@code $connect} route has succeeded. It ends once, for the first
 * reason.
 */
final class Connection {
  /** How many messages of a client are read in advance. */
  private static final int MOST_WAITING = 32;

  /**
   * The client.
   *
   * @param id the connection's id
   * @param connectedAt when the handshake began
   * @param sourceIp the client's address
   * @param userAgent the client's user agent
   */
  record Peer(String id, Instant connectedAt, String sourceIp, String userAgent) {}

  private final Peer peer;
  private final ObjectNode authorizer;
  private final BiConsumer<Connection, CloseMessage> onEnd;

  /** Completed at the end of the handshake. Messages may wait for it. */
  private final CompletableFuture<WebSocketChannel> channel = new CompletableFuture<>();

  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile Instant lastActiveAt;
  private CompletableFuture<Void> lastTurn = CompletableFuture.completedFuture(null);
  private int waiting;

  /**
   * A connection that is being established.
   *
   * @param authorizer the authorizer's context, empty without an authorizer
   * @param onEnd called once, when it has ended
   */
  Connection(Peer peer, ObjectNode authorizer, BiConsumer<Connection, CloseMessage> onEnd) {
    this.peer = peer;
    this.authorizer = authorizer;
    this.onEnd = onEnd;
    this.lastActiveAt = peer.connectedAt();
  }

  Peer peer() {
    return peer;
  }

  ObjectNode authorizer() {
    return authorizer;
  }

  Instant lastActiveAt() {
    return lastActiveAt;
  }

  void active(Instant now) {
    lastActiveAt = now;
  }

  /**
   * Executes work after the work that was added before. While too much work waits, the socket is
   * not read, so that a client sends no faster than its messages are served.
   */
  synchronized void inTurn(Runnable work, Executor threads) {
    if (++waiting == MOST_WAITING) {
      var unused = channel.thenAccept(WebSocketChannel::suspendReceives);
    }
    lastTurn =
        lastTurn
            .exceptionally(failed -> null)
            .thenRunAsync(work, threads)
            .whenComplete((done, failed) -> turnIsOver());
  }

  private synchronized void turnIsOver() {
    if (waiting-- == MOST_WAITING) {
      var unused = channel.thenAccept(WebSocketChannel::resumeReceives);
    }
  }

  /** Completes the handshake. */
  void opened(WebSocketChannel opened) {
    channel.complete(opened);
  }

  boolean wasOpened() {
    return channel.isDone() && !channel.isCompletedExceptionally();
  }

  /** Ends the connection because the socket is closed or was not opened. */
  void ended(int code, String reason) {
    if (ended.compareAndSet(false, true)) {
      channel.cancel(false);
      onEnd.accept(this, new CloseMessage(code, reason));
    }
  }

  /**
   * Closes the connection, which ends at once. If the client does not answer the close frame within
   * a second, its socket is closed.
   *
   * @return completed when the close frame is written, exceptionally if it cannot be
   */
  CompletableFuture<Void> close(int code, String reason) {
    return channel.thenCompose(
        open -> {
          ended(code, reason);
          CompletableFuture.delayedExecutor(1, TimeUnit.SECONDS)
              .execute(() -> IoUtils.safeClose(open));
          Written written = new Written();
          WebSockets.sendClose(code, reason, open, written);
          return written;
        });
  }

  /**
   * Sends a text frame.
   *
   * @return completed when the frame is written, exceptionally if it cannot be
   */
  CompletableFuture<Void> send(String text) {
    return channel.thenCompose(
        open -> {
          Written written = new Written();
          WebSockets.sendText(text, open, written);
          return written;
        });
  }

  /** A frame that is being written. */
  private static final class Written extends CompletableFuture<Void>
      implements WebSocketCallback<Void> {
    @Override
    public void complete(WebSocketChannel channel, Void context) {
      complete(null);
    }

    @Override
    public void onError(WebSocketChannel channel, Void context, Throwable thrown) {
      completeExceptionally(thrown);
    }
  }
}
