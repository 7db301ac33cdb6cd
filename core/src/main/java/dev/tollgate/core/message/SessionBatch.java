package dev.tollgate.core.message;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.message.MessageProcessing.Rows;
import dev.tollgate.core.message.MisbehavingSockets.Allowance;
import dev.tollgate.core.session.Session;
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
 * <p>It stops at the first message that is not done. A later message would otherwise be processed
 * before the earlier one, which the queue delivers again.
 */
final class SessionBatch {
  /** A session's end is only written if it moves by more than this fraction of the idle time. */
  private static final int PART = 10;

  /**
   * How long a processed message is known: five minutes in which its client may send it again, and
   * five in which the repetition may wait in the queue.
   */
  private static final Duration KNOWN_FOR = Duration.ofMinutes(10);

  /**
   * The most processed messages in a session's row, so that it stays small: one batch of a FIFO
   * queue. All others are in the log.
   */
  private static final int MAX_IN_SESSION = 10;

  /** How often a message is recorded as a sign of life of the session's connections. */
  private static final Duration SIGN = Duration.ofMinutes(1);

  private final Tenant tenant;
  private final Optional<Session> session;
  private final FrameDelivery delivery;
  private final MisbehavingSockets misbehaving;
  private final Rows rows;
  private final Frames frames;
  private final Application application;
  private final Set<MessageName> processed;
  private final Map<MessageName, BatchMessage> unlogged = new HashMap<>();
  private final InstantSource clock;
  private boolean extended;

  /** The messages of a session. */
  SessionBatch(
      MessageFacts facts,
      Optional<Session> session,
      FrameDelivery delivery,
      MisbehavingSockets misbehaving,
      Rows rows,
      Frames frames,
      Application application,
      InstantSource clock) {
    this.tenant = facts.tenant().orElseThrow();
    this.session = session;
    this.delivery = delivery;
    this.misbehaving = misbehaving;
    this.rows = rows;
    this.frames = frames;
    this.application = application;
    this.processed = new HashSet<>(facts.processed());
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
      record();
    }
  }

  private Result resultOf(BatchMessage message) {
    if (message.hasResult()) {
      return Result.failed("given up");
    }
    if (!message.incoming().redriven() && misbehaving.isCutOff(message.incoming().connectionId())) {
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

  /** Refuses a frame that is not paid for; empty if it is paid for or undecided. */
  private Optional<Result> unpaid(BatchMessage message) {
    String id = message.incoming().id();
    if (message.payment() instanceof BatchMessage.Throttled refused) {
      Duration retryAfter = Duration.between(clock.instant(), refused.retryAt());
      return Optional.of(
          refused(
              message, MessageOutcome.THROTTLED, Optional.of(frames.throttled(id, retryAfter))));
    }
    if (message.payment() instanceof BatchMessage.Suspended) {
      if (message.incoming().redriven()) {
        return Optional.of(Result.failed("redriven, but the tenant is " + tenant.status()));
      }
      return Optional.of(
          refused(message, MessageOutcome.SUSPENDED, Optional.of(frames.suspended(id))));
    }
    return Optional.empty();
  }

  /**
   * Refuses a frame and sends the reason to its socket. If its session has exceeded the allowance
   * of refused frames, closes the socket instead; if that fails, a later frame closes it.
   *
   * @param answer the frame to send; empty for none
   */
  private Result refused(BatchMessage message, MessageOutcome outcome, Optional<String> answer) {
    if (exceedsAllowance(message)) {
      return message.end(Result.of(MessageOutcome.CUT_OFF));
    }
    Result result = message.end(Result.of(outcome));
    answer.ifPresent(
        frame -> delivery.to(message.incoming().connectionId(), frame, message::undelivered));
    return result;
  }

  /**
   * Counts a refused or failed frame unless it was redriven. Closes its socket if that exceeds the
   * allowance.
   */
  private boolean exceedsAllowance(BatchMessage message) {
    IncomingMessage incoming = message.incoming();
    boolean exceedsAllowance =
        !incoming.redriven()
            && misbehaving.refused(tenant.id(), incoming.session()) == Allowance.EXCEEDED;
    if (exceedsAllowance) {
      delivery.close(incoming.connectionId());
    }
    return exceedsAllowance;
  }

  private static MessageOutcome processedOutcome(BatchMessage.Payment payment) {
    if (payment instanceof BatchMessage.Observed) {
      return MessageOutcome.WOULD_THROTTLE;
    }
    return payment instanceof BatchMessage.WithoutToken
        ? MessageOutcome.PROCESSED_WITHOUT_TOKEN
        : MessageOutcome.PROCESSED;
  }

  /**
   * Calls the application's handler. Once it has returned, the message is done, whether or not its
   * frames can be delivered: a failure would run the handler again.
   */
  private Result handled(BatchMessage message, IncomingMessage.Message content) {
    IncomingMessage incoming = message.incoming();
    List<String> replies;
    try {
      replies = replies(incoming, content);
    } catch (Throwable thrown) {
      // Any error of the application fails this message only. It counts as a refused frame, because
      // a failed message gets its token back.
      var unused = exceedsAllowance(message);
      return Result.failed(thrown);
    }
    Result result = message.end(Result.of(processedOutcome(message.payment())));
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
      for (String reply : replies) {
        var unused = delivery.toAll(reply, message::undelivered);
      }
    }
    return result;
  }

  /**
   * Records the processed messages: in their session if they extend it, else in the log. If that
   * fails, the messages are done nevertheless, because a failure would certainly run the handler
   * again.
   */
  private void record() {
    Instant now = clock.instant();
    Instant until = now.truncatedTo(ChronoUnit.SECONDS).plus(KNOWN_FOR);
    try {
      if (!recordInSession(until, now)) {
        rows.log().add(tenant.id(), unlogged.keySet(), until);
      }
    } catch (Unavailable failure) {
      unlogged.values().forEach(message -> message.unlogged(failure));
    }
  }

  private boolean recordInSession(Instant until, Instant now) {
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
   * Extends the session, at most once a batch, if its end moves far enough to be worth a write or
   * some connection needs a sign of life. Stores these messages in it, if they fit. If that fails,
   * the next message extends the session.
   *
   * @return whether the messages are stored in the session
   */
  private WriteResult extend(Map<String, Instant> names, Instant now) {
    if (extended || session.isEmpty() || session.get().hasEndedAt(now)) {
      return WriteResult.CONFLICT;
    }
    extended = true;
    Session read = session.get();
    Duration life = Duration.ofSeconds(tenant.limits().get(Limit.SESSION_TTL));
    Instant end =
        read.lifetime().capped(now.truncatedTo(ChronoUnit.SECONDS).plus(life), tenant.limits());
    boolean movesFar = Duration.between(read.endsAt(), end).multipliedBy(PART).compareTo(life) > 0;
    if (!movesFar && !read.hasSilentConnectionSince(now.minus(SIGN))) {
      return WriteResult.CONFLICT;
    }
    Map<String, Instant> stored = new HashMap<>(read.processed());
    stored.values().removeIf(each -> !now.isBefore(each));
    boolean fits = stored.size() + names.size() <= MAX_IN_SESSION;
    if (fits) {
      stored.putAll(names);
    }
    try {
      WriteResult written =
          rows.sessions()
              .extend(read, end.isAfter(read.endsAt()) ? end : read.endsAt(), stored, now);
      return fits ? written : WriteResult.CONFLICT;
    } catch (Unavailable unsure) {
      return WriteResult.CONFLICT;
    }
  }
}
