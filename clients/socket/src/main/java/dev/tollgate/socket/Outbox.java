package dev.tollgate.socket;

import dev.tollgate.socket.Outgoing.State;
import dev.tollgate.socket.SendResult.NotSent.Cause;
import dev.tollgate.socket.Transport.Connection;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The messages of a socket, in order. The JavaScript client's {@code outbox.js} does the same.
 *
 * <p><b>Window.</b> Up to {@link #MAX_IN_FLIGHT} messages are in flight. A message is in flight
 * until it is answered, or for {@link #REFUSED_WITHIN} after it was accepted, because the server
 * closes the socket of a session that has 60 refused messages at once.
 *
 * <p><b>Order.</b> The server processes the messages of a session in the order of acceptance. If
 * the tenant is out of tokens, it refuses a message and usually the later ones in flight as well,
 * each with a later slot. A refused message is sent again at its slot; the others wait for all
 * slots. After a drop, the messages without an answer are sent again in order, before the others.
 * So order is kept, except that a message in flight may overtake the one before it if a token
 * arrives just after that was refused, or if the queue missed that.
 *
 * <p><b>Copies.</b> Copies of a message have the same id, and the server processes one of them. It
 * knows the id for five minutes, so the last copy is sent at most {@link #COPIES_WITHIN} after the
 * first that may have been processed.
 *
 * <p><b>Answers.</b> A message is answered by a reply or a refusal. Without a reply, it is taken as
 * processed {@link #PROCESSED_WITHIN} after it was accepted, and it is not sent again after a drop.
 * A refusal that comes later on the same connection still counts.
 */
final class Outbox {
  /** A session may have 60 refused messages at once. */
  private static final int MAX_IN_FLIGHT = 32;

  /** How soon after {@code accepted} a refusal usually comes. */
  private static final Duration REFUSED_WITHIN = Duration.ofSeconds(1);

  private static final Duration PROCESSED_WITHIN = Duration.ofSeconds(10);
  private static final Duration ACCEPTED_WITHIN = Duration.ofSeconds(10);
  private static final Duration COPIES_WITHIN = Duration.ofMinutes(4);

  /** API Gateway closes a socket that is idle for ten minutes. */
  private static final Duration HEARTBEAT_AFTER = Duration.ofMinutes(5);

  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(10);
  private static final int MAX_FRAME_BYTES = 128 * 1024;
  private static final String HEARTBEAT = "{\"action\":\"Heartbeat\"}";

  private final SocketSettings settings;
  private final BackOff backOff;
  private final Runnable onSilence;
  private final Set<Outgoing> messages = new LinkedHashSet<>();
  private Optional<Connection> connection = Optional.empty();
  private Instant pausedUntil = Instant.MIN;
  private Instant throttledUntil = Instant.MIN;
  private Instant receivedAt = Instant.MIN;
  private boolean heartbeatSent;
  private boolean closed;
  private Scheduler.Cancellable timer = () -> {};
  private Scheduler.Cancellable heartbeatTimer = () -> {};

  /**
   * @param onSilence called when the server does not answer
   */
  Outbox(SocketSettings settings, Runnable onSilence) {
    this.settings = settings;
    this.backOff = new BackOff(settings.random());
    this.onSilence = onSilence;
  }

  /** Adds a message, which is sent as soon as there is a connection. */
  void add(Outgoing message) {
    if (closed) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.CLOSED));
    } else if (all(State.UNSENT).count() >= settings.maxQueued()) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.QUEUE_FULL));
    } else if (bytes(message) > MAX_FRAME_BYTES) {
      message.result.complete(new SendResult.NotSent(message.id, Cause.TOO_BIG));
    } else {
      message.replyWithin.ifPresent(limit -> message.replyUntil = now().plus(limit));
      messages.add(message);
      work();
    }
  }

  private static int bytes(Outgoing message) {
    return message.frame.getBytes(StandardCharsets.UTF_8).length;
  }

  /** Uses a connection: sends what is unanswered, in order. */
  void opened(Connection opened) {
    dropped();
    connection = Optional.of(opened);
    receivedAt = now();
    heartbeatSent = false;
    // Replies go to all sockets of the session, so one may come to a message that is too old.
    messages.stream()
        .filter(message -> receivedAt.isBefore(copiesUntil(message)))
        .forEach(message -> message.state = State.UNSENT);
    beatLater();
    work();
  }

  /** There is no connection any more. Refusals of its messages are lost. */
  void dropped() {
    connection = Optional.empty();
    heartbeatTimer.cancel();
    messages.removeIf(message -> message.state == State.PROCESSED);
    work();
  }

  /** The server closed the connection because of a frame: the biggest one, if any is too big. */
  void tooBig() {
    all(State.SENT)
        .max(Comparator.comparing(Outbox::bytes))
        .ifPresent(message -> fail(message, new SendResult.NotSent(message.id, Cause.TOO_BIG)));
  }

  /** The session is over: what may have been processed fails, what was never sent stays. */
  void sessionEnded() {
    failAll(message -> message.copyAt.isPresent());
  }

  /** Fails all messages. */
  void close() {
    dropped();
    closed = true;
    failAll(message -> true);
  }

  private void failAll(Predicate<Outgoing> which) {
    messages.stream()
        .filter(which)
        .toList()
        .forEach(message -> fail(message, message.unanswered(Cause.CLOSED)));
    work();
  }

  private void fail(Outgoing message, SendResult result) {
    if (messages.remove(message) && !message.result.complete(result)) {
      settings.listener().messageFailed(result);
    }
  }

  /** Handles a frame of the connection. */
  void receive(String text) {
    receivedAt = now();
    SocketListener listener = settings.listener();
    listener.frameReceived(text);
    Frame frame = Frame.parse(text);
    if (frame instanceof Frame.Accepted it) {
      accepted(it.id());
    } else if (frame instanceof Frame.Throttled it) {
      throttled(it.id(), it.retryAfter());
    } else if (frame instanceof Frame.Refused it) {
      refused(it);
    } else if (frame instanceof Frame.Unavailable) {
      unavailable();
    } else if (frame instanceof Frame.Reply it) {
      replied(it);
    } else if (frame instanceof Frame.Message it) {
      listener.messageReceived(it.id(), it.json());
    } else if (frame instanceof Frame.Push it) {
      listener.pushReceived(it.id(), it.json());
    }
    beatLater();
    work();
  }

  private Stream<Outgoing> all(State state) {
    return messages.stream().filter(message -> message.state == state);
  }

  /** The message of this id that was sent. */
  private Optional<Outgoing> find(String id) {
    return messages.stream()
        .filter(message -> message.id.equals(id) && message.copies > 0)
        .findFirst();
  }

  private void accepted(String id) {
    // The answer to a copy that was refused meanwhile may come after the refusal; it says nothing
    // about the next copy.
    all(State.SENT)
        .filter(message -> message.id.equals(id))
        .findFirst()
        .ifPresent(
            message -> {
              message.state = State.ACCEPTED;
              message.acceptedAt = now();
              backOff.reset();
              if (message.replyWithin.isEmpty()) {
                message.result.complete(new SendResult.Accepted(id));
              }
            });
  }

  private void replied(Frame.Reply reply) {
    find(reply.id())
        .ifPresent(
            message -> {
              messages.remove(message);
              message.result.complete(new SendResult.Replied(reply.id(), reply.json()));
            });
    settings.listener().replyReceived(reply.id(), reply.json());
  }

  private void throttled(String id, Duration retryAfter) {
    Instant now = now();
    Instant until = now.plus(retryAfter);
    // Each refusal tells a later token than the ones before it. So the earliest token is the first
    // one told.
    if (!throttledUntil.isAfter(now) || until.isBefore(throttledUntil)) {
      throttledUntil = until;
    }
    Optional<Outgoing> named = find(id);
    named.ifPresent(message -> message.throttled(retryAfter, now));
    settings.listener().messageThrottled(id, retryAfter);
    named
        .filter(message -> until.isAfter(deadline(message)))
        .ifPresent(message -> fail(message, message.unanswered(Cause.TIMED_OUT)));
  }

  private void refused(Frame.Refused refused) {
    List<Outgoing> sent = all(State.SENT).toList();
    List<Outgoing> failed = List.of();
    if (refused.id().isPresent()) {
      failed = find(refused.id().get()).stream().toList();
    } else if (refused.code().equals("BAD_FRAME") && heartbeatSent) {
      heartbeatSent = false;
    } else if (refused.code().equals("NOT_SILO") || sent.size() == 1) {
      failed = sent;
    }
    failed.forEach(
        message ->
            fail(message, new SendResult.Refused(message.id, refused.code(), refused.detail())));
  }

  private void unavailable() {
    // In an outage the server sends one such frame for each message under way. They count as one
    // failure.
    if (all(State.SENT).findAny().isPresent()) {
      pausedUntil = now().plus(backOff.next());
      all(State.SENT).forEach(message -> message.state = State.UNSENT);
    }
  }

  /** Does what is due, and sets the timer for what is due next. */
  private void work() {
    Instant now = now();
    boolean silent = false;
    for (Outgoing message : List.copyOf(messages)) {
      if (!now.isBefore(deadline(message))) {
        if (message.state != State.PROCESSED) {
          fail(message, message.unanswered(Cause.TIMED_OUT));
        }
        messages.remove(message);
      } else if (connection.isPresent() && !now.isBefore(changesAt(message, now))) {
        if (message.state == State.SENT) {
          silent |= !receivedAt.isAfter(message.sentAt);
          message.state = State.UNSENT;
        } else if (message.state == State.ACCEPTED && message.replyWithin.isEmpty()) {
          message.state = State.PROCESSED;
        }
      }
    }
    if (silent) {
      onSilence.run();
    } else if (connection.isPresent() && !now.isBefore(pausedUntil)) {
      sendUnsent(now);
    }
    timer.cancel();
    Stream.concat(
            Stream.of(pausedUntil, refusedUntil()),
            messages.stream()
                .<Instant>mapMulti(
                    (message, due) -> {
                      due.accept(deadline(message));
                      due.accept(changesAt(message, now));
                    }))
        .filter(due -> due.isAfter(now) && due.isBefore(Instant.MAX))
        .min(Comparator.naturalOrder())
        .map(due -> settings.scheduler().after(Duration.between(now, due), this::work))
        .ifPresent(next -> timer = next);
  }

  private static Instant copiesUntil(Outgoing message) {
    return message.copyAt.map(at -> at.plus(COPIES_WITHIN)).orElse(Instant.MAX);
  }

  private static Instant deadline(Outgoing message) {
    boolean mayBeCopied = message.state != State.ACCEPTED || message.replyWithin.isEmpty();
    Instant copied = copiesUntil(message);
    return mayBeCopied && copied.isBefore(message.replyUntil) ? copied : message.replyUntil;
  }

  /** When a message changes its state, or leaves the window, although no frame comes. */
  private static Instant changesAt(Outgoing message, Instant now) {
    return switch (message.state) {
      case UNSENT -> message.notBefore.orElse(Instant.MAX);
      case SENT -> message.sentAt.plus(ACCEPTED_WITHIN);
      case ACCEPTED ->
          message.acceptedAt.plus(isInFlight(message, now) ? REFUSED_WITHIN : PROCESSED_WITHIN);
      case PROCESSED -> Instant.MAX;
    };
  }

  private static boolean isInFlight(Outgoing message, Instant now) {
    return message.state == State.SENT
        || (message.state == State.ACCEPTED
            && now.isBefore(message.acceptedAt.plus(REFUSED_WITHIN)));
  }

  /** When messages may be sent that were not refused. A refused one has a time of its own. */
  private Instant refusedUntil() {
    return all(State.UNSENT)
        .flatMap(message -> message.notBefore.stream())
        .reduce(throttledUntil, (one, other) -> one.isAfter(other) ? one : other);
  }

  private void sendUnsent(Instant now) {
    Instant refusedUntil = refusedUntil();
    all(State.UNSENT)
        .filter(message -> !now.isBefore(message.notBefore.orElse(refusedUntil)))
        .limit(MAX_IN_FLIGHT - messages.stream().filter(it -> isInFlight(it, now)).count())
        .toList()
        .forEach(
            message -> {
              message.sent(now);
              transmit(message.frame);
            });
  }

  private void transmit(String frame) {
    Connection used = connection.orElseThrow();
    beatLater();
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

  /**
   * Sends a heartbeat when nothing was sent or received for a time: a short one while a reply is
   * due, which may be lost. Any frame answers it.
   */
  private void beatLater() {
    heartbeatTimer.cancel();
    boolean awaitsReply =
        messages.stream().anyMatch(it -> it.replyWithin.isPresent() && it.state != State.UNSENT);
    heartbeatTimer =
        settings
            .scheduler()
            .after(
                awaitsReply ? ANSWER_WITHIN : HEARTBEAT_AFTER,
                () -> {
                  transmit(HEARTBEAT);
                  heartbeatSent = true;
                  heartbeatTimer.cancel();
                  heartbeatTimer = awaitAnswer();
                });
  }

  /** Waits for any frame, which cancels this. The scheduler knows that the network answers. */
  private Scheduler.Cancellable awaitAnswer() {
    CompletableFuture<Boolean> answered = new CompletableFuture<>();
    settings.scheduler().when(answered, any -> {});
    Scheduler.Cancellable silence = settings.scheduler().after(ANSWER_WITHIN, onSilence);
    return () -> {
      silence.cancel();
      answered.complete(true);
    };
  }

  private Instant now() {
    return settings.clock().instant();
  }
}
