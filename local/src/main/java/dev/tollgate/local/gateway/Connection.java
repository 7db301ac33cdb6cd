package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
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

/** A WebSocket connection, from its handshake on. It ends once, for the first reason. */
final class Connection {
  /** How many messages of a client are read in advance. */
  private static final int MOST_WAITING = 32;

  final String id;
  final Instant connectedAt;
  private final String sourceIp;
  private final String userAgent;
  private final BiConsumer<Connection, CloseMessage> onEnd;

  /** Completed at the end of the handshake. Messages may wait for it. */
  private final CompletableFuture<WebSocketChannel> channel = new CompletableFuture<>();

  private final AtomicBoolean ended = new AtomicBoolean();
  private volatile ObjectNode authorizer = Json.object();
  private volatile Instant lastActiveAt;
  private CompletableFuture<Void> lastTurn = CompletableFuture.completedFuture(null);
  private int waiting;

  /**
   * A connection that is being established.
   *
   * @param handshake the request of the client
   * @param connectedAt when the handshake began
   * @param onEnd called once, when it has ended
   */
  Connection(
      HttpServerExchange handshake,
      Instant connectedAt,
      BiConsumer<Connection, CloseMessage> onEnd) {
    this.id = Requests.newId();
    this.connectedAt = connectedAt;
    this.sourceIp = Requests.sourceIp(handshake);
    this.userAgent = Requests.userAgent(handshake);
    this.onEnd = onEnd;
    this.lastActiveAt = connectedAt;
  }

  /** The client, as member {@code identity} describes it. */
  ObjectNode identity() {
    return Json.object().put("sourceIp", sourceIp).put("userAgent", userAgent);
  }

  /** The authorizer's context; empty without an authorizer. */
  ObjectNode authorizer() {
    return authorizer;
  }

  void authorized(ObjectNode context) {
    authorizer = context;
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
