package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Status;
import dev.tollgate.cli.terminal.Shell;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/** The WebSockets of one session. They are opened one by one, and events name them by number. */
final class Sockets implements AutoCloseable {
  /** The longest wait for a reply, including the cold start of a function. */
  private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(30);

  /** The time between pings. API Gateway closes a socket that is idle for ten minutes. */
  private static final Duration KEEP_ALIVE = Duration.ofMinutes(4);

  private final HttpClient client = Api.client();
  private final URI address;
  private final Shell shell;
  private final BiConsumer<ObjectNode, String> report;
  private final List<WebSocket> open = new ArrayList<>();
  private final List<CompletableFuture<Boolean>> replies = new ArrayList<>();

  /**
   * @param address the URL of the session's sockets, with its query
   * @param report receives each event as JSON and as a line for a person
   */
  Sockets(URI address, Shell shell, BiConsumer<ObjectNode, String> report) {
    this.address = address;
    this.shell = shell;
    this.report = report;
  }

  /**
   * Opens a socket.
   *
   * @return whether it was admitted
   * @throws Failure if the handshake got no HTTP response
   */
  boolean open(int number) {
    try {
      Frames frames = new Frames(number);
      open.add(client.newWebSocketBuilder().buildAsync(address, frames).join());
      replies.add(frames.reply);
      report(number, Json.object().put("admitted", true), "admitted");
      return true;
    } catch (CompletionException e) {
      if (e.getCause() instanceof WebSocketHandshakeException refusal) {
        int status = refusal.getResponse().statusCode();
        report(
            number,
            Json.object().put("admitted", false).put("status", status),
            "refused: " + status + " " + Status.name(status));
        return false;
      }
      if (e.getCause() instanceof ConnectException unreachable) {
        throw Failure.unreachable(address, unreachable);
      }
      throw Failure.of("Cannot open a WebSocket at " + address + ": " + e.getCause(), e);
    }
  }

  /**
   * Sends a frame on the first open socket, and waits until all sockets have received the reply or
   * the first has received an error.
   *
   * @return whether there was a reply
   */
  boolean exchange(ObjectNode frame) {
    if (open.isEmpty()) {
      return false;
    }
    open.get(0).sendText(frame.toString(), true).join();
    try {
      return replies.stream()
          .allMatch(reply -> reply.orTimeout(REPLY_TIMEOUT.toSeconds(), TimeUnit.SECONDS).join());
    } catch (CompletionException e) {
      throw Failure.of("No reply within " + REPLY_TIMEOUT.toSeconds() + " s", e);
    }
  }

  /** Keeps the sockets open for a while. */
  void hold(Duration time) {
    Duration left = open.isEmpty() ? Duration.ZERO : time;
    while (left.compareTo(Duration.ZERO) > 0) {
      Duration step = left.compareTo(KEEP_ALIVE) < 0 ? left : KEEP_ALIVE;
      shell.sleep(step);
      left = left.minus(step);
      open.removeIf(WebSocket::isInputClosed);
      open.forEach(socket -> socket.sendPing(ByteBuffer.allocate(0)).join());
    }
  }

  @Override
  public void close() {
    open.removeIf(WebSocket::isOutputClosed);
    open.forEach(socket -> socket.sendClose(WebSocket.NORMAL_CLOSURE, "").join());
  }

  private synchronized void report(int number, ObjectNode event, String line) {
    ObjectNode document = Json.object().put("socket", number);
    document.setAll(event);
    report.accept(document, "socket " + number + "  " + line);
  }

  /** Reports the frames that the server sends on one socket. */
  private final class Frames implements WebSocket.Listener {
    private final int number;

    /** Completes with true at a reply, and with false at an error. */
    private final CompletableFuture<Boolean> reply = new CompletableFuture<>();

    private final StringBuilder text = new StringBuilder();

    private Frames(int number) {
      this.number = number;
    }

    @Override
    public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        report(number, Json.object().put("frame", text.toString()), "received " + text);
        Json.parse(text.toString())
            // The frames of API Gateway itself, such as Too Many Requests, have no type.
            .flatMap(
                frame ->
                    Json.text(frame, "type")
                        .or(() -> Json.text(frame, "connectionId").map(id -> "error")))
            .filter(type -> type.equals("reply") || type.equals("error"))
            .ifPresent(type -> reply.complete(type.equals("reply")));
        text.setLength(0);
      }
      return WebSocket.Listener.super.onText(socket, data, last);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      // The server's answer to our own close frame is not an event.
      if (!socket.isOutputClosed()) {
        report(
            number,
            Json.object().put("closed", code).put("reason", reason),
            "closed by the server: " + code + (reason.isEmpty() ? "" : " " + reason));
      }
      return WebSocket.Listener.super.onClose(socket, code, reason);
    }
  }
}
