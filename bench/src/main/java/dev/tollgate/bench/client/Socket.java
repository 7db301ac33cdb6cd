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

  /** Whether neither side has closed it. */
  public boolean isOpen() {
    return !frames.closed.isDone() && !socket.isInputClosed() && !socket.isOutputClosed();
  }

  /** Sends a message for the shared queue under an id of its own. */
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
   * Sends a text as it is.
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

  /** Ends it without a word. */
  public void abort() {
    socket.abort();
  }

  /** The next frame, if one comes within a time. */
  public Optional<JsonNode> receive(Duration within) throws InterruptedException {
    return Optional.ofNullable(frames.received.poll(within.toMillis(), TimeUnit.MILLISECONDS));
  }

  /** Closes it, and waits for the deployment's answer, but not for long. */
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
