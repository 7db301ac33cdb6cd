package dev.tollgate.core.message;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.message.SocketStates.Allowance;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The messages of one session in a batch, one after another.
 *
 * <p>It stops at the first that is not done: were a later one done, it would be done before the
 * earlier one, which comes again.
 */
final class SessionBatch {
  /** An end that moves by less than this part of a session's life is not written down. */
  private static final int PART = 10;

  /**
   * A processed message is known for so long: the five minutes in which its client may send it
   * again, and as many in which what was sent again may wait in its queue.
   */
  private static final Duration KNOWN_FOR = Duration.ofMinutes(10);

  /**
   * Names that a session notes at most, so that its row stays small whoever writes it: those of one
   * batch of a FIFO queue. All others are in the log.
   */
  private static final int MOST_NOTED = 10;

  /** After so long a message is written down as a sign of life of the session's connections. */
  private static final Duration SIGN = Duration.ofMinutes(1);

  private final Tenant tenant;
  private final Optional<Session> session;
  private final Delivery delivery;
  private final SocketStates states;
  private final Sessions sessions;
  private final Frames frames;
  private final Application application;
  private final MessageLog log;
  private final Set<MessageName> processed;
  private final Map<MessageName, BatchMessage> unlogged = new HashMap<>();
  private final InstantSource clock;
  private boolean used;

  /**
   * A conversation that is about to begin.
   *
   * @param processed the messages that were processed before
   */
  SessionBatch(
      Tenant tenant,
      Optional<Session> session,
      Delivery delivery,
      SocketStates states,
      Sessions sessions,
      Frames frames,
      Application application,
      MessageLog log,
      Set<MessageName> processed,
      InstantSource clock) {
    this.tenant = tenant;
    this.session = session;
    this.delivery = delivery;
    this.states = states;
    this.sessions = sessions;
    this.frames = frames;
    this.application = application;
    this.log = log;
    this.processed = new HashSet<>(processed);
    this.clock = clock;
  }

  /** Processes the messages and sets the result of each. */
  void process(List<BatchMessage> messages) {
    Optional<Result> stopped = Optional.empty();
    for (BatchMessage message : messages) {
      Result result = message.end(stopped.isPresent() ? stopped.get() : resultOf(message));
      if (stopped.isEmpty() && !result.outcome().isDone()) {
        stopped = Optional.of(Result.of(result.outcome()));
      }
    }
    if (!unlogged.isEmpty()) {
      writeDown();
    }
  }

  private Result resultOf(BatchMessage message) {
    if (message.hasResult()) {
      return Result.failed("given up");
    }
    if (states.isCutOff(message.incoming().connectionId())) {
      return Result.of(MessageOutcome.CUT_OFF);
    }
    try {
      return message.incoming().content() instanceof IncomingMessage.Message content
          ? resultOf(message, content)
          : resultOf(message, (IncomingMessage.Unreadable) message.incoming().content());
    } catch (RuntimeException failure) {
      return Result.failed(failure);
    }
  }

  private Result resultOf(BatchMessage message, IncomingMessage.Unreadable unreadable) {
    String id = message.incoming().id();
    return unpaid(message)
        .orElseGet(
            () ->
                refused(
                    message,
                    MessageOutcome.BAD_FRAME,
                    Optional.of(frames.badFrame(id, unreadable.flaw()))));
  }

  private Result resultOf(BatchMessage message, IncomingMessage.Message content) {
    if (message.incoming().name().filter(processed::contains).isPresent()) {
      return message.isRefused()
          ? refused(message, MessageOutcome.DUPLICATE, Optional.empty())
          : Result.of(MessageOutcome.DUPLICATE);
    }
    Optional<Result> refusal = unpaid(message);
    if (refusal.isPresent()) {
      return refusal.get();
    }
    if (message.payment() instanceof BatchMessage.Undecided undecided) {
      return Result.of(MessageOutcome.UNDECIDED, Optional.of(new Unavailable(undecided.cause())));
    }
    if (message.incoming().name().isEmpty()) {
      extend(Map.of(), clock.instant());
    }
    return handled(message, content);
  }

  /** Refuses a frame if there is no token for it. */
  private Optional<Result> unpaid(BatchMessage message) {
    String id = message.incoming().id();
    if (message.payment() instanceof BatchMessage.Throttled refused) {
      Duration retryAfter = Duration.between(clock.instant(), refused.retryAt());
      return Optional.of(
          refused(
              message, MessageOutcome.THROTTLED, Optional.of(frames.throttled(id, retryAfter))));
    }
    if (message.payment() instanceof BatchMessage.Suspended) {
      return Optional.of(
          refused(message, MessageOutcome.SUSPENDED, Optional.of(frames.suspended(id))));
    }
    return Optional.empty();
  }

  /**
   * Ends a frame that is refused, and tells its sender why. If its session had too many before it,
   * its socket is closed instead; if that fails, one of the next batch closes it.
   *
   * @param answer empty if the sender is not told
   */
  private Result refused(BatchMessage message, MessageOutcome outcome, Optional<String> answer) {
    if (isTooMuch(message)) {
      return message.end(Result.of(MessageOutcome.CUT_OFF));
    }
    Result result = message.end(Result.of(outcome));
    answer.ifPresent(
        frame -> delivery.to(message.incoming().connectionId(), frame, message::undelivered));
    return result;
  }

  /** Counts a frame that is refused or failed. If that is one too many, closes its socket. */
  private boolean isTooMuch(BatchMessage message) {
    IncomingMessage incoming = message.incoming();
    boolean isTooMuch = states.refused(tenant.id(), incoming.session()) == Allowance.EXCEEDED;
    if (isTooMuch) {
      delivery.close(incoming.connectionId());
    }
    return isTooMuch;
  }

  /**
   * Has the application handle a message. Once the handler has returned, the message is done,
   * whether or not its frames can be delivered: to fail it then would run the handler again.
   */
  private Result handled(BatchMessage message, IncomingMessage.Message content) {
    IncomingMessage incoming = message.incoming();
    List<String> replies;
    try {
      replies = replies(incoming, content);
    } catch (Throwable thrown) {
      // Whatever an application's code throws, it fails its own message and no other. It counts,
      // since its token goes back each time that it fails.
      var unused = isTooMuch(message);
      return Result.failed(thrown);
    }
    Result result =
        message.end(
            Result.of(
                message.payment() instanceof BatchMessage.WithoutToken
                    ? MessageOutcome.PROCESSED_WITHOUT_TOKEN
                    : MessageOutcome.PROCESSED));
    if (result.outcome().isDone()) {
      message
          .incoming()
          .name()
          .ifPresent(
              name -> {
                processed.add(name);
                unlogged.put(name, message);
              });
      delivery.toOthersThan(
          incoming.connectionId(),
          frames.message(incoming.id(), content.json()),
          message::undelivered);
      replies.forEach(reply -> delivery.toAll(reply, message::undelivered));
    }
    return result;
  }

  /**
   * Writes down which messages were processed: in their session if they extend it, else in the log.
   * If that fails, the messages are done all the same: to fail them would run the handler again for
   * certain.
   */
  private void writeDown() {
    Instant now = clock.instant();
    Instant until = now.truncatedTo(ChronoUnit.SECONDS).plus(KNOWN_FOR);
    try {
      if (!areNotedInSession(until, now)) {
        log.add(tenant.id(), unlogged.keySet(), until);
      }
    } catch (Unavailable failure) {
      unlogged.values().forEach(message -> message.unlogged(failure));
    }
  }

  private boolean areNotedInSession(Instant until, Instant now) {
    Map<String, Instant> names = new HashMap<>();
    unlogged.keySet().forEach(name -> names.put(name.id(), until));
    return extend(names, now) == WriteResult.DONE;
  }

  private List<String> replies(IncomingMessage incoming, IncomingMessage.Message message)
      throws Exception {
    return application.handle(incoming, message.json()).stream()
        .map(json -> frames.reply(incoming.id(), json))
        .toList();
  }

  /**
   * Extends the session, the first time that it is asked for, if its end is far enough away from
   * the new one to be worth a write, or if some connection needs this sign of life; and has it note
   * these messages, if they fit. One that cannot be extended now is by its next message.
   *
   * @return whether the session notes these messages
   */
  private WriteResult extend(Map<String, Instant> names, Instant now) {
    if (used || session.isEmpty() || session.get().hasEndedAt(now)) {
      return WriteResult.CONFLICT;
    }
    used = true;
    Session read = session.get();
    Duration life = Duration.ofSeconds(tenant.limits().get(Limit.SESSION_TTL));
    Instant end =
        read.lifetime().capped(now.truncatedTo(ChronoUnit.SECONDS).plus(life), tenant.limits());
    boolean movesFar = Duration.between(read.endsAt(), end).multipliedBy(PART).compareTo(life) > 0;
    if (!movesFar && !read.hasSilentConnectionSince(now.minus(SIGN))) {
      return WriteResult.CONFLICT;
    }
    Map<String, Instant> noted = new HashMap<>(read.processed());
    noted.values().removeIf(each -> !now.isBefore(each));
    boolean fits = noted.size() + names.size() <= MOST_NOTED;
    if (fits) {
      noted.putAll(names);
    }
    try {
      WriteResult written =
          sessions.extend(read, end.isAfter(read.endsAt()) ? end : read.endsAt(), noted, now);
      return fits ? written : WriteResult.CONFLICT;
    } catch (Unavailable unsure) {
      return WriteResult.CONFLICT;
    }
  }
}
