package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Status;
import dev.tollgate.cli.terminal.LiveLine;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.socket.CloseReason;
import dev.tollgate.socket.Interruption;
import dev.tollgate.socket.Refusal;
import dev.tollgate.socket.SendResult;
import dev.tollgate.socket.SocketListener;
import dev.tollgate.socket.SocketState;
import dev.tollgate.socket.TollgateSocket;
import dev.tollgate.socket.TollgateSocketBuilder;
import java.net.ConnectException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The WebSockets of one session. They are opened one by one, because all sockets of a session share
 * its place in line. Events name them by number.
 */
final class Sockets implements AutoCloseable {
  /** The longest wait for a reply, including the cold start of a function. */
  private static final Duration REPLY_TIMEOUT = Duration.ofSeconds(30);

  /** The command gives up after this many further retries that admit no socket. */
  private static final int MAX_FRUITLESS_RETRIES = 3;

  /** The attempts of a request that API Gateway throttles. */
  private static final int MAX_ATTEMPTS = 4;

  private static final int TOO_MANY_REQUESTS = 429;

  private final EventLoop loop;
  private final Supplier<TollgateSocketBuilder> builder;
  private final URI address;
  private final boolean retry;
  private final BiConsumer<ObjectNode, String> report;
  private final Consumer<Refusal> onWaiting;
  private final Supplier<Failure> onThrottled;
  private final Optional<LiveLine> countdown;
  private final List<Numbered> sockets = new ArrayList<>();
  private Optional<Refusal> refusal = Optional.empty();

  /**
   * @param builder creates builders of sockets on the session
   * @param address where the sockets are opened, for messages
   * @param retry whether refused sockets wait, and dropped ones come back
   * @param report receives each event as JSON and as a line for a person
   * @param onWaiting receives the limit each time that a socket begins to wait
   * @param onThrottled the failure if API Gateway throttles the session API again and again
   * @param live whether a countdown may be shown
   */
  Sockets(
      EventLoop loop,
      Shell shell,
      Supplier<TollgateSocketBuilder> builder,
      URI address,
      boolean retry,
      BiConsumer<ObjectNode, String> report,
      Consumer<Refusal> onWaiting,
      Supplier<Failure> onThrottled,
      boolean live) {
    this.loop = loop;
    this.builder = builder;
    this.address = address;
    this.retry = retry;
    this.report = report;
    this.onWaiting = onWaiting;
    this.onThrottled = onThrottled;
    countdown =
        live && shell.terminal().isPresent() ? Optional.of(new LiveLine(shell)) : Optional.empty();
  }

  /**
   * Opens a socket, and waits until it is admitted or gives up.
   *
   * @return whether it was admitted
   * @throws Failure if the handshake got no HTTP response
   */
  boolean open(int number) {
    Numbered socket = new Numbered(number);
    sockets.add(socket);
    socket.start(builder.get());
    loop.runUntil(() -> socket.isOpen() || socket.isClosed());
    return socket.isOpen();
  }

  /** The limit that refused a socket last. */
  Optional<Refusal> refusal() {
    return refusal;
  }

  private Optional<Numbered> firstOpen() {
    return sockets.stream().filter(Numbered::isOpen).findFirst();
  }

  /**
   * Sends a message on the first open socket, and waits until all sockets have received the reply
   * or the message has failed.
   *
   * @return whether there was a reply
   */
  boolean exchange(String json) {
    Optional<Numbered> first = firstOpen();
    if (first.isEmpty()) {
      return false;
    }
    List<SendResult> results = new ArrayList<>();
    var unused = first.get().socket().request(json, REPLY_TIMEOUT).thenAccept(results::add);
    loop.runUntilAnswered(() -> !results.isEmpty());
    SendResult result = results.get(0);
    if (result instanceof SendResult.Replied) {
      boolean[] late = {false};
      loop.after(REPLY_TIMEOUT, () -> late[0] = true);
      loop.runUntilAnswered(
          () -> late[0] || sockets.stream().allMatch(it -> it.replied || !it.isOpen()));
      return !late[0];
    }
    if (result instanceof SendResult.Unanswered || result instanceof SendResult.Throttled) {
      throw Failure.of(
          "No reply within "
              + REPLY_TIMEOUT.toSeconds()
              + " s"
              + (result instanceof SendResult.Throttled throttled
                  ? ": the tenant is over its messagesPerMinute; retry in "
                      + throttled.retryAfter().toSeconds()
                      + " s"
                  : ""));
    }
    return false;
  }

  /** A place in line, in words. */
  static String place(long ahead) {
    return ahead == 0 ? "first in line" : ahead + " ahead in line";
  }

  /**
   * Keeps the sockets open for a while.
   *
   * @return whether none of the admitted sockets was closed for good
   */
  boolean hold(Duration time) {
    boolean[] over = {time.isZero()};
    loop.after(time, () -> over[0] = true);
    loop.runUntil(() -> over[0] || sockets.stream().allMatch(Numbered::isClosed));
    return sockets.stream().noneMatch(socket -> socket.wasOpen && socket.isClosed());
  }

  @Override
  public void close() {
    sockets.forEach(Numbered::close);
    loop.runUntilAnswered(() -> sockets.stream().allMatch(Numbered::isClosed));
  }

  /** One socket, and what it tells. */
  private final class Numbered implements SocketListener {
    private final int number;
    private Optional<TollgateSocket> socket = Optional.empty();
    private SocketState state = new SocketState.Connecting();
    private int fruitless;
    private int throttled;
    private boolean wasOpen;
    private boolean closed;
    private boolean replied;

    private Numbered(int number) {
      this.number = number;
    }

    private void start(TollgateSocketBuilder settings) {
      TollgateSocket opened = settings.scheduler(loop).clock(loop).listener(this).open();
      socket = Optional.of(opened);
      var unused = opened.closed().thenAccept(reason -> closed = true);
    }

    private TollgateSocket socket() {
      return socket.orElseThrow();
    }

    private boolean isOpen() {
      return state instanceof SocketState.Open;
    }

    private boolean isClosed() {
      return closed;
    }

    private void close() {
      socket.ifPresent(
          it -> {
            var unused = it.closeAsync();
          });
    }

    private void report(ObjectNode event, String line) {
      countdown.ifPresent(LiveLine::clear);
      ObjectNode document = Json.object().put("socket", number);
      document.setAll(event);
      report.accept(document, "socket " + number + "  " + line);
    }

    @Override
    public void stateChanged(SocketState next) {
      state = next;
      if (!(next instanceof SocketState.Waiting)) {
        countdown.ifPresent(LiveLine::clear);
      }
      if (next instanceof SocketState.Open) {
        wasOpen = true;
        fruitless = 0;
        throttled = 0;
        report(Json.object().put("admitted", true), "admitted");
      } else if (next instanceof SocketState.Waiting waiting) {
        waiting(waiting);
      } else if (next instanceof SocketState.Reconnecting reconnecting) {
        reconnecting(reconnecting);
      } else if (next instanceof SocketState.Closed end) {
        ended(end.reason());
      }
    }

    private void waiting(SocketState.Waiting waiting) {
      refusal = Optional.of(waiting.refusal());
      boolean helps = waiting.refusal().retryAfter().isPresent();
      if (retry && helps && fruitless <= MAX_FRUITLESS_RETRIES) {
        fruitless++;
        countdown.ifPresent(LiveLine::clear);
        onWaiting.accept(waiting.refusal());
        countdown.ifPresent(line -> count(waiting, line));
      } else {
        close();
      }
    }

    private void count(SocketState.Waiting waiting, LiveLine line) {
      if (state.equals(waiting)) {
        long seconds = (waiting.remaining(loop.instant()).toMillis() + 999) / 1000;
        OptionalLong ahead = waiting.ahead(loop.instant());
        line.show(
            "socket %d  %snext attempt in %d s"
                .formatted(
                    number, ahead.isEmpty() ? "" : place(ahead.getAsLong()) + ", ", seconds));
        if (seconds > 1) {
          loop.after(Duration.ofSeconds(1), () -> count(waiting, line));
        }
      }
    }

    private void reconnecting(SocketState.Reconnecting reconnecting) {
      Interruption cause = reconnecting.cause();
      if (cause instanceof Interruption.NoAnswer none && !wasOpen) {
        fail(unreachable(none.detail()));
        return;
      }
      if (cause instanceof Interruption.NotServed answer
          && answer.status() == TOO_MANY_REQUESTS
          && ++throttled == MAX_ATTEMPTS) {
        fail(onThrottled.get());
        return;
      }
      boolean asks = cause instanceof Interruption.NotServed;
      if (!retry && !asks) {
        close();
        return;
      }
      if (cause instanceof Interruption.NoAnswer none) {
        report(Json.object().put("noAnswer", none.detail()), "no answer: " + none.detail());
      }
      if (retry && !(cause instanceof Interruption.SessionOver)) {
        Duration delay = Duration.between(loop.instant(), reconnecting.until());
        report(
            Json.object().put("retryAfterSeconds", delay.toMillis() / 1000.0),
            "next attempt in " + Tollgate.seconds(delay));
      }
    }

    /**
     * Ends the command with a failure. A socket goes on if its listener throws, so the loop does.
     */
    private void fail(Failure failure) {
      loop.execute(
          () -> {
            throw failure;
          });
    }

    private Failure unreachable(String detail) {
      return detail.startsWith(ConnectException.class.getSimpleName())
          ? Failure.unreachable(address, new ConnectException(detail))
          : Failure.of("Cannot open a WebSocket at " + address + ": " + detail);
    }

    private void ended(CloseReason reason) {
      if (!(reason instanceof CloseReason.Requested)) {
        String words = words(reason);
        report(Json.object().put("ended", words), words);
      }
    }

    private String words(CloseReason reason) {
      if (reason instanceof CloseReason.SessionEnded) {
        return "the tenant has no such session, or the session has ended";
      }
      if (reason instanceof CloseReason.Suspended) {
        return "the tenant is suspended or leaves";
      }
      if (reason instanceof CloseReason.Unauthorized it) {
        return "the session API requires a valid token: " + it.detail();
      }
      if (reason instanceof CloseReason.Forbidden it) {
        return "the session API denies access: " + it.detail();
      }
      if (reason instanceof CloseReason.Invalid it) {
        return "rejected: " + it.status() + " " + it.detail();
      }
      return "no such tenant";
    }

    @Override
    public void handshakeRefused(int status) {
      report(
          Json.object().put("admitted", false).put("status", status),
          "refused: " + status + " " + Status.name(status));
    }

    @Override
    public void disconnected(Interruption.Dropped drop) {
      report(
          Json.object().put("closed", drop.code()).put("reason", drop.reason()),
          "closed by the server: "
              + drop.code()
              + (drop.reason().isEmpty() ? "" : " " + drop.reason()));
    }

    @Override
    public void frameReceived(String text) {
      report(Json.object().put("frame", text), "received " + text);
    }

    @Override
    public void replyReceived(String id, String json) {
      replied = true;
    }
  }
}
