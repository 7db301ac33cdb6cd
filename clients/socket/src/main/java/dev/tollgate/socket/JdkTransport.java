package dev.tollgate.socket;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The network behind the JDK's HTTP client. */
final class JdkTransport implements Transport {
  /** Longer than the 29 s after which API Gateway itself gives up. */
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Below the 32 KB that a frame may have, whatever the characters. */
  private static final int FRAME_CHARS = 8_000;

  private static final int CLOSE_SECONDS = 5;
  private static final int NO_CLOSE_FRAME = 1006;

  private final HttpClient http;

  JdkTransport(HttpClient http) {
    this.http = http;
  }

  @Override
  public CompletionStage<Exchange> call(String method, URI uri, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri).method(method, HttpRequest.BodyPublishers.noBody());
    request.header("Accept", "application/json, application/problem+json");
    headers.forEach(request::header);
    CompletableFuture<HttpResponse<String>> exchange =
        http.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
    // The request's own time limit would end with the headers.
    return exchange
        .copy()
        .orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS)
        .handle(
            (response, failure) -> {
              if (response == null) {
                exchange.cancel(true);
                return new Exchange.Failed(reason(failure));
              }
              return new Exchange.Answer(
                  response.statusCode(), retryAfter(response), response.body());
            });
  }

  private static Optional<Duration> retryAfter(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(value -> value.matches("[0-9]{1,9}"))
        .map(value -> Duration.ofSeconds(Math.max(1, Long.parseLong(value))));
  }

  @Override
  public CompletionStage<Handshake> open(URI uri, Events events) {
    return http.newWebSocketBuilder()
        .connectTimeout(LIMIT)
        .buildAsync(uri, new Listener(events))
        .handle(
            (socket, failure) -> {
              if (socket != null) {
                return new Handshake.Admitted(new JdkConnection(socket));
              }
              return cause(failure) instanceof WebSocketHandshakeException refused
                  ? new Handshake.Refused(refused.getResponse().statusCode())
                  : new Handshake.Failed(reason(failure));
            });
  }

  private static @Nullable Throwable cause(@Nullable Throwable failure) {
    return failure instanceof CompletionException ? failure.getCause() : failure;
  }

  private static String reason(@Nullable Throwable failure) {
    Throwable cause = cause(failure);
    if (cause instanceof TimeoutException) {
      return "No answer within " + LIMIT.toSeconds() + " s";
    }
    if (cause == null) {
      return "No answer";
    }
    String message = cause.getMessage();
    return cause.getClass().getSimpleName() + (message == null ? "" : ": " + message);
  }

  private static final class JdkConnection implements Connection {
    private final WebSocket socket;

    /** Whether the last text could be sent: the JDK takes a text after the one before is sent. */
    private CompletableFuture<Boolean> sent = CompletableFuture.completedFuture(true);

    private JdkConnection(WebSocket socket) {
      this.socket = socket;
    }

    @Override
    public void start() {
      socket.request(1);
    }

    @Override
    public synchronized CompletionStage<Boolean> send(String text) {
      sent =
          sent.thenCompose(before -> part(text, 0).orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS))
              .handle((socket, failure) -> failure == null);
      return sent;
    }

    private CompletableFuture<WebSocket> part(String text, int from) {
      int to = Math.min(text.length(), from + FRAME_CHARS);
      if (to == text.length()) {
        return socket.sendText(text.substring(from), true);
      }
      int end = Character.isHighSurrogate(text.charAt(to - 1)) ? to - 1 : to;
      return socket
          .sendText(text.substring(from, end), false)
          .thenCompose(unused -> part(text, end));
    }

    @Override
    public CompletionStage<Boolean> close() {
      return socket
          .sendClose(WebSocket.NORMAL_CLOSURE, "")
          .orTimeout(CLOSE_SECONDS, TimeUnit.SECONDS)
          .handle(
              (sent, failure) -> {
                // The client reads the server's close frame only if it is asked to.
                socket.request(Long.MAX_VALUE);
                CompletableFuture.delayedExecutor(CLOSE_SECONDS, TimeUnit.SECONDS)
                    .execute(socket::abort);
                return failure == null;
              });
    }

    @Override
    public void abort() {
      socket.abort();
    }
  }

  private static final class Listener implements WebSocket.Listener {
    private final Events events;
    private final StringBuilder text = new StringBuilder();

    private Listener(Events events) {
      this.events = events;
    }

    @Override
    public void onOpen(WebSocket socket) {
      // The connection is started when its user is ready for its events.
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        events.text(text.toString());
        text.setLength(0);
      }
      socket.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
      events.closed(code, reason);
      return null;
    }

    @Override
    public void onError(WebSocket socket, Throwable error) {
      events.closed(NO_CLOSE_FRAME, reason(error));
    }
  }
}
