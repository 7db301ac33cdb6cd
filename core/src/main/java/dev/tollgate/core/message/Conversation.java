package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

/**
 * The messages of one session in a batch, one after another.
 *
 * <p>It stops at the first that is not done: were a later one done, it would be done before the
 * earlier one, which comes again.
 */
final class Conversation {
  /** An end that moves by less than this part of a session's life is not written down. */
  private static final int PART = 10;

  private final Tenant tenant;
  private final Optional<Session> session;
  private final Delivery delivery;
  private final Sessions sessions;
  private final Frames frames;
  private final TenantMessageHandler handler;
  private final InstantSource clock;
  private boolean used;

  Conversation(
      Tenant tenant,
      Optional<Session> session,
      Delivery delivery,
      Sessions sessions,
      Frames frames,
      TenantMessageHandler handler,
      InstantSource clock) {
    this.tenant = tenant;
    this.session = session;
    this.delivery = delivery;
    this.sessions = sessions;
    this.frames = frames;
    this.handler = handler;
    this.clock = clock;
  }

  /** Says of every message what became of it. */
  void hold(List<Passage> passages) {
    Optional<Result> stopped = Optional.empty();
    for (Passage passage : passages) {
      Result result = passage.end(stopped.isPresent() ? stopped.get() : resultOf(passage));
      if (stopped.isEmpty() && !result.outcome().isDone()) {
        stopped = Optional.of(new Result(result.outcome(), Optional.empty()));
      }
    }
  }

  private Result resultOf(Passage passage) {
    if (passage.isOver()) {
      return Result.failed("given up");
    }
    Incoming incoming = passage.incoming();
    try {
      if (incoming.content() instanceof Incoming.Message message) {
        return resultOf(passage, message);
      }
      String flaw = ((Incoming.Unreadable) incoming.content()).flaw();
      delivery.to(incoming.connectionId(), frames.badFrame(incoming.id(), flaw));
      return Result.of(Outcome.BAD_FRAME);
    } catch (RuntimeException failure) {
      return Result.failed(failure);
    }
  }

  private Result resultOf(Passage passage, Incoming.Message message) {
    Incoming incoming = passage.incoming();
    if (passage.fare() instanceof Passage.Refused refused) {
      Duration retryAfter = Duration.between(clock.instant(), refused.retryAt());
      delivery.to(incoming.connectionId(), frames.throttled(incoming.id(), retryAfter));
      return Result.of(Outcome.THROTTLED);
    }
    if (passage.fare() instanceof Passage.Unasked unasked) {
      return new Result(Outcome.UNDECIDED, Optional.of(new Unavailable(unasked.cause())));
    }
    extendOnce();
    delivery.toOthersThan(incoming.connectionId(), frames.message(incoming.id(), message.json()));
    List<String> replies;
    try {
      replies = replies(incoming, message);
    } catch (Throwable thrown) {
      // Whatever an application's code does, it fails its own message and nobody else's.
      return Result.failed(thrown);
    }
    if (passage.isOver()) {
      return Result.failed("given up");
    }
    replies.forEach(delivery::toAll);
    return Result.of(
        passage.fare() instanceof Passage.Paid
            ? Outcome.PROCESSED
            : Outcome.PROCESSED_WITHOUT_TOKEN);
  }

  private List<String> replies(Incoming incoming, Incoming.Message message) throws Exception {
    TenantMessage handled =
        new TenantMessage(
            incoming.tenant(),
            incoming.session(),
            incoming.connectionId(),
            incoming.id(),
            message.json());
    return handler.handle(handled).stream().map(json -> frames.reply(incoming.id(), json)).toList();
  }

  /**
   * Moves the session's end away, if that moves it far enough to be worth a write. A session that
   * cannot be extended now is by its next message.
   */
  private void extendOnce() {
    if (used || session.isEmpty()) {
      return;
    }
    used = true;
    TenantId id = tenant.id();
    Instant now = clock.instant();
    Duration life = Duration.ofSeconds(tenant.limits().get(Limit.SESSION_TTL));
    Instant end = now.truncatedTo(ChronoUnit.SECONDS).plus(life);
    Duration by = Duration.between(session.get().endsAt(), end);
    if (session.get().endedAt(now) || by.multipliedBy(PART).compareTo(life) <= 0) {
      return;
    }
    try {
      sessions.extend(id, session.get().id(), end, now);
    } catch (Unavailable ignored) {
      return;
    }
  }
}
