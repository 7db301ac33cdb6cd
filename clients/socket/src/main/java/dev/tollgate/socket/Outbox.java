package dev.tollgate.socket;

import dev.tollgate.socket.SendResult.NotSent.Cause;
import dev.tollgate.socket.Transport.Connection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The messages of a socket. One frame is under way at a time: it is sent, and the next follows when
 * the server has answered it. So messages arrive in order, whatever is sent again, and an error
 * without an id belongs to the frame that is under way.
 *
 * <p>Copies of a message have the same id, and the server processes one of them. It knows the id
 * for five minutes, so the last copy is sent at most {@link #RESEND_LIMIT} after the first that may
 * have been processed.
 */
final class Outbox {
  static final Duration RESEND_LIMIT = Duration.ofMinutes(4);

  /** The longest wait for an answer to a frame. */
  static final Duration ANSWER_LIMIT = Duration.ofSeconds(10);

  /** An accepted message that was not refused for this long counts as processed. */
  static final Duration REFUSAL_LIMIT = Duration.ofSeconds(10);

  /** API Gateway closes a socket that is idle for ten minutes. */
  static final Duration HEARTBEAT = Duration.ofMinutes(5);

  static final int MAX_FRAME_BYTES = 128 * 1024;

  private static final String HEARTBEAT_FRAME = "{\"action\":\"Heartbeat\"}";

  private final SocketSettings settings;
  private final BackOff backOff;
  private final Runnable onSilence;

  /** Messages that are to be sent, or sent again, by their numbers. */
  private final TreeMap<Long, Outgoing> queue = new TreeMap<>();

  /** The message whose frame is under way; empty for a heartbeat. */
  private Optional<Outgoing> underWay = Optional.empty();

  private boolean waitsForAnswer;

  /** Completes when the frame under way was answered, or is given up. */
  private CompletableFuture<Boolean> answer = new CompletableFuture<>();

  /** Accepted messages that may still be refused or answered, in the order of acceptance. */
  private final Map<String, Outgoing> accepted = new LinkedHashMap<>();

  private Optional<Connection> connection = Optional.empty();
  private Instant pausedUntil = Instant.MIN;
  private Instant throttledUntil = Instant.MIN;
  private Instant receivedAt = Instant.MIN;
  private long numbers;
  private boolean closed;
  private Scheduler.Cancellable answerTimer = () -> {};
  private Scheduler.Cancellable heartbeatTimer = () -> {};

  /**
   * @param onSilence called when the server does not answer
   */
  Outbox(SocketSettings settings, Runnable onSilence) {
    this.settings = settings;
    this.backOff = new BackOff(settings.random());
    this.onSilence = onSilence;
  }

  /** Sends a message as soon as there is a connection. */
  void send(Outgoing message) {
    if (closed) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.CLOSED));
    } else if (queue.size() >= settings.maxQueued()) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.QUEUE_FULL));
    } else if (message.frame.getBytes(StandardCharsets.UTF_8).length > MAX_FRAME_BYTES) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.TOO_BIG));
    } else {
      message.number = ++numbers;
      queue.put(message.number, message);
      message.replyWithin.ifPresent(
          limit -> settings.scheduler().after(limit, () -> timedOut(message)));
      flush();
    }
  }

  private void timedOut(Outgoing message) {
    if (!message.result.isDone()) {
      message.abandoned = true;
      queue.remove(message.number);
      accepted.remove(message.id);
      message.result.complete(message.unanswered(Cause.TIMED_OUT));
    }
  }

  /** Uses a connection: sends again what was not answered, then what is unsent. */
  void opened(Connection opened) {
    connection = Optional.of(opened);
    receivedAt = now();
    armHeartbeat();
    flush();
  }

  /** There is no connection any more. Errors for accepted messages were lost with it. */
  void dropped() {
    connection = Optional.empty();
    heartbeatTimer.cancel();
    underWay
        .filter(message -> !message.abandoned)
        .ifPresent(message -> queue.put(message.number, message));
    answered();
    Instant known = now().minus(REFUSAL_LIMIT);
    for (Outgoing message : accepted.values()) {
      if (message.acceptedAt.orElse(Instant.MIN).isAfter(known)) {
        queue.put(message.number, message);
      }
    }
    // Replies go to all sockets of the session, so they may still come.
    accepted.values().removeIf(message -> queue.containsKey(message.number) || isOver(message));
  }

  /** The server closed the connection because the frame that was sent last was too big. */
  void tooBig() {
    underWay.ifPresent(message -> fail(message, new SendResult.NotSent(message.id, Cause.TOO_BIG)));
    answered();
  }

  /** The session is over. Another one knows none of its messages. */
  void sessionOver() {
    accepted.values().forEach(message -> message.result.complete(message.unanswered(Cause.CLOSED)));
    accepted.clear();
    List<Outgoing> sent =
        queue.values().stream().filter(message -> message.sentAt.isPresent()).toList();
    queue.values().removeAll(sent);
    sent.forEach(message -> fail(message, message.unanswered(Cause.CLOSED)));
  }

  /** Nothing is sent any more. */
  void close() {
    dropped();
    closed = true;
    accepted.values().forEach(message -> message.result.complete(message.unanswered(Cause.CLOSED)));
    accepted.clear();
    List<Outgoing> unsent = List.copyOf(queue.values());
    queue.clear();
    unsent.forEach(message -> fail(message, message.unanswered(Cause.CLOSED)));
  }

  /** Handles a frame of the connection. */
  void receive(String text) {
    receivedAt = now();
    SocketListener listener = settings.listener();
    listener.frameReceived(text);
    Frame frame = Frame.parse(text);
    if (frame instanceof Frame.Accepted it) {
      accept(it.id());
    } else if (frame instanceof Frame.Throttled it) {
      throttle(it.id(), it.retryAfter());
    } else if (frame instanceof Frame.Refused it) {
      refuse(it);
    } else if (frame instanceof Frame.Unavailable) {
      sendAgainLater();
    } else if (frame instanceof Frame.Reply it) {
      take(it.id())
          .ifPresent(
              message -> message.result.complete(new SendResult.Replied(it.id(), it.json())));
      listener.replyReceived(it.id(), it.json());
    } else if (frame instanceof Frame.Message it) {
      listener.messageReceived(it.id(), it.json());
    }
    flush();
  }

  private void accept(Optional<String> id) {
    underWay
        .filter(message -> id.map(message.id::equals).orElse(true))
        .ifPresent(
            message -> {
              answered();
              backOff.reset();
              message.acceptedAt = Optional.of(now());
              forgetOld();
              accepted.put(message.id, message);
              if (message.replyWithin.isEmpty()) {
                message.result.complete(new SendResult.Accepted(message.id));
              }
            });
  }

  /** Forgets messages that can no longer be refused or safely sent again. */
  private void forgetOld() {
    Iterator<Outgoing> oldest = accepted.values().iterator();
    while (oldest.hasNext() && isOver(oldest.next())) {
      oldest.remove();
    }
  }

  /** Whether the server may have forgotten a message, so that it must not be sent again. */
  private boolean isOver(Outgoing message) {
    return message.result.isDone() && !isRecent(message);
  }

  private boolean isRecent(Outgoing message) {
    return message.sentAt.map(at -> now().isBefore(at.plus(RESEND_LIMIT))).orElse(true);
  }

  private void throttle(String id, Duration retryAfter) {
    Instant now = now();
    Instant until = now.plus(retryAfter);
    // Each refusal tells a later token than the ones before it. So the earliest token is the first
    // one told.
    if (!throttledUntil.isAfter(now) || until.isBefore(throttledUntil)) {
      throttledUntil = until;
    }
    settings.scheduler().after(retryAfter, this::flush);
    take(id)
        .ifPresent(
            message -> {
              message.throttled(retryAfter, now);
              if (!message.abandoned) {
                queue.put(message.number, message);
              }
            });
    settings.listener().messageThrottled(id, retryAfter);
  }

  private void refuse(Frame.Refused refused) {
    Optional<Outgoing> message = refused.id().isPresent() ? take(refused.id().get()) : underWay;
    if (refused.id().isEmpty()) {
      // The answer to a heartbeat is of this kind.
      answered();
    }
    message.ifPresent(
        it -> {
          fail(it, new SendResult.Refused(it.id, refused.code(), refused.detail()));
        });
  }

  private void fail(Outgoing message, SendResult result) {
    if (!message.result.complete(result) && !message.abandoned) {
      settings.listener().messageFailed(result);
    }
  }

  private void sendAgainLater() {
    if (waitsForAnswer) {
      underWay.ifPresent(
          message -> {
            if (!message.abandoned) {
              queue.put(message.number, message);
            }
            pause(backOff.next());
          });
      answered();
    }
  }

  /** Removes a message of which something is known now. */
  private Optional<Outgoing> take(String id) {
    if (underWay.filter(message -> message.id.equals(id)).isPresent()) {
      Optional<Outgoing> message = underWay;
      answered();
      return message;
    }
    Optional<Outgoing> waiting =
        queue.values().stream()
            .filter(message -> message.id.equals(id) && message.sentAt.isPresent())
            .findFirst();
    waiting.ifPresent(message -> queue.remove(message.number));
    return waiting.or(() -> Optional.ofNullable(accepted.remove(id)));
  }

  private void answered() {
    answerTimer.cancel();
    answer.complete(true);
    waitsForAnswer = false;
    underWay = Optional.empty();
  }

  private void pause(Duration time) {
    Instant until = now().plus(time);
    if (until.isAfter(pausedUntil)) {
      pausedUntil = until;
      settings.scheduler().after(time, this::flush);
    }
  }

  /**
   * The first message that may be sent now: a refused one at its own time, the others once all
   * refused ones may be sent and the bucket has a token.
   */
  private Optional<Outgoing> nextSendable() {
    Instant now = now();
    Instant others =
        queue.values().stream()
            .flatMap(message -> message.notBefore.stream())
            .reduce(throttledUntil, (one, other) -> one.isAfter(other) ? one : other);
    return queue.values().stream()
        .filter(message -> !now.isBefore(message.notBefore.orElse(others)))
        .findFirst();
  }

  private void flush() {
    while (connection.isPresent() && !waitsForAnswer && !now().isBefore(pausedUntil)) {
      Optional<Outgoing> next = nextSendable();
      if (next.isEmpty()) {
        return;
      }
      Outgoing message = next.get();
      queue.remove(message.number);
      if (isRecent(message)) {
        underWay = Optional.of(message);
        transmit(message.frame);
      } else {
        fail(message, message.unanswered(Cause.TIMED_OUT));
      }
    }
  }

  private void transmit(String frame) {
    waitsForAnswer = true;
    underWay.ifPresent(message -> message.sent(now()));
    Connection used = connection.orElseThrow();
    Instant sentAt = now();
    answerTimer.cancel();
    answerTimer = settings.scheduler().after(ANSWER_LIMIT, () -> answerMissing(frame, sentAt));
    armHeartbeat();
    answer.complete(false);
    answer = new CompletableFuture<>();
    settings.scheduler().when(answer, answered -> {});
    settings
        .scheduler()
        .when(
            used.send(frame),
            sent -> {
              if (!sent && connection.filter(used::equals).isPresent()) {
                onSilence.run();
              }
            });
  }

  private void answerMissing(String frame, Instant sentAt) {
    if (receivedAt.isBefore(sentAt) || receivedAt.equals(sentAt)) {
      onSilence.run();
    } else if (underWay.map(message -> isRecent(message) && !message.abandoned).orElse(true)) {
      transmit(frame);
    } else {
      underWay.ifPresent(message -> fail(message, message.unanswered(Cause.TIMED_OUT)));
      answered();
      flush();
    }
  }

  private void armHeartbeat() {
    heartbeatTimer.cancel();
    heartbeatTimer =
        settings
            .scheduler()
            .after(
                HEARTBEAT,
                () -> {
                  if (!waitsForAnswer) {
                    transmit(HEARTBEAT_FRAME);
                  }
                });
  }

  private Instant now() {
    return settings.clock().instant();
  }
}
