package dev.tollgate.socket;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A message of the application, until it is known what became of it. */
final class Outgoing {
  /** What is known of the last copy; {@code PROCESSED}: accepted, and not refused in time. */
  enum State {
    UNSENT,
    SENT,
    ACCEPTED,
    PROCESSED
  }

  final String id;
  final String frame;

  /** The time that the application waits for a reply; empty if it waits for none. */
  final Optional<Duration> replyWithin;

  final CompletableFuture<SendResult> result = new CompletableFuture<>();

  State state = State.UNSENT;

  /** When the application stops waiting for a reply. */
  Instant replyUntil = Instant.MAX;

  /** When the last copy was sent. */
  Instant sentAt = Instant.MIN;

  /** When a copy was accepted that was not refused since; {@code MIN} if none was. */
  Instant acceptedAt = Instant.MIN;

  /** When the first copy was sent that the server may have processed. */
  Optional<Instant> copyAt = Optional.empty();

  /** The copies that were sent since then. */
  int copies;

  /** The time that the server told when it refused the last copy for the tenant's rate. */
  Optional<Duration> throttledFor = Optional.empty();

  /** When {@link #throttledFor} is over; empty if no copy was refused. */
  Optional<Instant> notBefore = Optional.empty();

  Outgoing(String id, String frame, Optional<Duration> replyWithin) {
    this.id = id;
    this.frame = frame;
    this.replyWithin = replyWithin;
  }

  /** Notes that a copy is sent. */
  void sent(Instant now) {
    state = State.SENT;
    sentAt = now;
    copyAt = copyAt.or(() -> Optional.of(now));
    copies++;
  }

  /** Notes that a copy was refused for the tenant's rate. */
  void throttled(Duration retryAfter, Instant now) {
    if (copies <= 1) {
      // Nothing was processed. With several copies, another one may have been.
      copyAt = Optional.empty();
      copies = 0;
    }
    state = State.UNSENT;
    acceptedAt = Instant.MIN;
    throttledFor = Optional.of(retryAfter);
    notBefore = Optional.of(now.plus(retryAfter));
  }

  /** The result of a message that nobody answers any more. */
  SendResult unanswered(SendResult.NotSent.Cause notSent) {
    if (copyAt.isPresent()) {
      return new SendResult.Unanswered(id, acceptedAt.isAfter(Instant.MIN));
    }
    return throttledFor
        .<SendResult>map(time -> new SendResult.Throttled(id, time))
        .orElseGet(() -> new SendResult.NotSent(id, notSent));
  }
}
