package dev.tollgate.socket;

import java.net.URI;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/**
 * A WebSocket on a tenant's session. It creates the session, waits in line if it is refused,
 * reconnects after a drop, keeps the session alive, and sends messages again that nobody answered.
 *
 * <pre>{@code
 * try (TollgateSocket socket = TollgateSocket.builder(sessionUrl, "acme").open()) {
 *   socket.request("{\"hello\":\"world\"}").thenAccept(System.out::println).toCompletableFuture().join();
 * }
 * }</pre>
 *
 * <p>All methods may be called on any thread. Stages complete on the thread of the {@link
 * Scheduler}.
 */
public final class TollgateSocket implements AutoCloseable {
  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
  private static final int ID_BYTES = 16;
  private static final Duration REPLY_LIMIT = Duration.ofSeconds(30);
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);

  private final SocketSettings settings;
  private final SocketLifecycle lifecycle;

  TollgateSocket(SocketSettings settings) {
    this.settings = settings;
    lifecycle = new SocketLifecycle(settings);
    settings.scheduler().execute(lifecycle::start);
  }

  /**
   * A builder of sockets.
   *
   * @param sessionUrl the session API: the output {@code SessionURL} of the deployment
   * @param tenantId the tenant
   */
  public static TollgateSocketBuilder builder(URI sessionUrl, String tenantId) {
    return new TollgateSocketBuilder(sessionUrl, tenantId);
  }

  /** The state. */
  public SocketState state() {
    return lifecycle.state();
  }

  /**
   * The session, once it is known. Keep its id to use the session, and its place in line, again.
   */
  public Optional<Session> session() {
    return lifecycle.session();
  }

  /**
   * Sends a message. It is sent when the socket is open, and again until the server has accepted
   * it.
   *
   * @param json the message: one JSON value
   * @return {@link SendResult.Accepted}, or why the message is not in the queue
   * @throws IllegalArgumentException if {@code json} is not JSON
   */
  public CompletionStage<SendResult> send(String json) {
    return send(newId(), json);
  }

  /**
   * Sends a message under an id of its own, so that the server processes it once even if the
   * application sends it again within four minutes.
   *
   * @param id 1 to 64 letters, digits, {@code -} and {@code _}
   * @throws IllegalArgumentException if {@code id} is something else, or {@code json} is not JSON
   */
  public CompletionStage<SendResult> send(String id, String json) {
    return submit(id, json, Optional.empty());
  }

  /** Sends a message and waits up to 30 s for the application's answer. */
  public CompletionStage<SendResult> request(String json) {
    return request(json, REPLY_LIMIT);
  }

  /**
   * Sends a message and waits for the application's answer.
   *
   * @param limit how long the application waits, beginning now
   * @return {@link SendResult.Replied}, or why there is no answer
   * @throws IllegalArgumentException if {@code json} is not JSON
   */
  public CompletionStage<SendResult> request(String json, Duration limit) {
    return submit(newId(), json, Optional.of(limit));
  }

  private CompletionStage<SendResult> submit(
      String id, String json, Optional<Duration> replyWithin) {
    if (!ID.matcher(id).matches()) {
      throw new IllegalArgumentException("id: " + id + " (expected: " + ID + ")");
    }
    if (!Json.isValue(json)) {
      throw new IllegalArgumentException("message: " + json + " (expected: one JSON value)");
    }
    String frame =
        "{\"action\":\"%s\",\"id\":\"%s\",\"message\":".formatted(settings.route().action(), id)
            + json
            + "}";
    Outgoing message = new Outgoing(id, frame, replyWithin);
    settings.scheduler().execute(() -> lifecycle.send(message));
    return message.result.minimalCompletionStage();
  }

  private synchronized String newId() {
    byte[] id = new byte[ID_BYTES];
    settings.random().nextBytes(id);
    return HexFormat.of().formatHex(id);
  }

  /** Completes when the socket is closed and does not try again. */
  public CompletionStage<CloseReason> closed() {
    return lifecycle.closed().minimalCompletionStage();
  }

  /** Begins to close the socket. Messages that are not answered yet are completed as such. */
  public CompletionStage<CloseReason> closeAsync() {
    settings.scheduler().execute(lifecycle::close);
    return closed();
  }

  /**
   * Closes the socket, and waits for a few seconds until that is done. The session stays, unless
   * {@link TollgateSocketBuilder#endSessionOnClose} was called. Must not be called by a listener;
   * that calls {@link #closeAsync}.
   */
  @Override
  public void close() {
    var unused = closeAsync();
    try {
      lifecycle.closed().get(CLOSE_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException slow) {
      // The session ends by itself.
    } catch (ExecutionException impossible) {
      throw new IllegalStateException(impossible);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
