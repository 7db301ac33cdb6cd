package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** An open socket of a session; used by one thread at a time. */
public final class Socket {
  private static final Duration CLOSE_TIME = Duration.ofSeconds(5);

  private final WebSocket socket;
  private final Frames frames;

  Socket(WebSocket socket, Frames frames) {
    this.socket = socket;
    this.frames = frames;
  }

  /** Whether the socket is open in both directions. */
  public boolean isOpen() {
    return !frames.closed.isDone() && !socket.isInputClosed() && !socket.isOutputClosed();
  }

  /** Why the socket closed: the code and reason of its close frame, or the failure. */
  public String closeReason() {
    return frames
        .closed
        .handle((frame, failure) -> frame != null ? frame.strip() : String.valueOf(failure))
        .getNow("not closed");
  }

  /** Sends a message with a new id through the shared queue. */
  public void send(String id) {
    socket
        .sendText(
            """
            {"action": "PooledSQS", "id": "%s", "message": "%s"}"""
                .formatted(id, id),
            true)
        .join();
  }

  /**
   * Sends a text frame.
   *
   * @throws IllegalStateException if the socket is closed
   */
  public void sendText(String text) {
    try {
      socket.sendText(text, true).join();
    } catch (CompletionException e) {
      throw new IllegalStateException("the socket is closed: " + e.getCause(), e);
    }
  }

  /** Aborts the connection without a close frame. */
  public void abort() {
    socket.abort();
  }

  /** The next frame; empty if none arrives in time. */
  public Optional<JsonNode> receive(Duration within) throws InterruptedException {
    return Optional.ofNullable(frames.received.poll(within.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** Closes the socket, and waits a short time for the deployment's close frame. */
  public void close() throws InterruptedException {
    if (!socket.isOutputClosed()) {
      var unused = socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
    }
    try {
      frames.closed.get(CLOSE_TIME.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      socket.abort();
    }
  }
}
