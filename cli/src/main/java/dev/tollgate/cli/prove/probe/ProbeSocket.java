package dev.tollgate.cli.prove.probe;

import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import java.net.URI;
import java.net.http.HttpHeaders;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A WebSocket to an API of the probe stack. */
final class ProbeSocket implements AutoCloseable {
  /** As long as API Gateway waits for an integration. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /**
   * The response to a refused handshake.
   *
   * @param status the HTTP status
   */
  record Refusal(int status, HttpHeaders headers) {}

  private final WebSocket socket;
  private final Frames frames;

  private ProbeSocket(WebSocket socket, Frames frames) {
    this.socket = socket;
    this.frames = frames;
  }

  /** The frames that have arrived. */
  private static final class Frames implements WebSocket.Listener {
    private final BlockingQueue<String> complete = new LinkedBlockingQueue<>();
    private final StringBuilder part = new StringBuilder();
    private final CompletableFuture<Void> closed = new CompletableFuture<>();

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence text, boolean last) {
      part.append(text);
      if (last) {
        complete.add(part.toString());
        part.setLength(0);
      }
      from.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket from, int status, String reason) {
      closed.complete(null);
      return null;
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      closed.complete(null);
    }
  }

  /**
   * Opens a connection.
   *
   * @throws Failure if the handshake is refused or gets no response
   */
  static ProbeSocket open(String url, Map<String, String> query) {
    Frames frames = new Frames();
    try {
      return new ProbeSocket(handshake(url, query, frames), frames);
    } catch (CompletionException e) {
      throw Failure.of("Cannot connect to " + url + ": " + e.getCause(), e);
    }
  }

  /**
   * Attempts a handshake, and closes the connection if there is one.
   *
   * @return the response; status 101 without headers if the handshake succeeds
   * @throws Failure if there is no response
   */
  static Refusal tryHandshake(String url, Map<String, String> query) {
    try {
      handshake(url, query, new Frames()).abort();
      return new Refusal(101, HttpHeaders.of(Map.of(), (name, value) -> true));
    } catch (CompletionException e) {
      if (e.getCause() instanceof WebSocketHandshakeException refused) {
        return new Refusal(refused.getResponse().statusCode(), refused.getResponse().headers());
      }
      throw Failure.of("Cannot connect to " + url + ": " + e.getCause(), e);
    }
  }

  private static WebSocket handshake(String url, Map<String, String> query, Frames frames) {
    return Api.client()
        .newWebSocketBuilder()
        .connectTimeout(PATIENCE)
        .buildAsync(URI.create(url + Api.suffix(query)), frames)
        .join();
  }

  /**
   * Sends a frame and waits for the next one.
   *
   * @throws Failure if none arrives
   */
  String ask(String frame) {
    socket.sendText(frame, true).join();
    try {
      String answer = frames.complete.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (answer == null) {
        throw Failure.of("No answer within " + PATIENCE.toSeconds() + " s to the frame " + frame);
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }

  /** Closes the connection normally and waits until the server has closed it, too. */
  @Override
  public void close() {
    socket
        .sendClose(WebSocket.NORMAL_CLOSURE, "done")
        .thenCompose(sent -> frames.closed)
        .completeOnTimeout(null, PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .exceptionally(broken -> null)
        .join();
    socket.abort();
  }
}
