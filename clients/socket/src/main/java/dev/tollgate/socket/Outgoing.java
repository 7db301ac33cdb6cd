package dev.tollgate.socket;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A message of the application, until it is known what became of it. */
final class Outgoing {
  final String id;
  final String frame;

  /** The time that the application waits for a reply; empty if it waits for none. */
  final Optional<Duration> replyWithin;

  final CompletableFuture<SendResult> result = new CompletableFuture<>();

  /** The position among the messages of the socket. */
  long number;

  /** When the first copy was sent that may have been processed. */
  Optional<Instant> sentAt = Optional.empty();

  /** The copies that were sent since then. */
  int copies;

  /** When the last copy was accepted; empty if it was not. */
  Optional<Instant> acceptedAt = Optional.empty();

  /** The time that the server told when it refused the last copy for the tenant's rate. */
  Optional<Duration> throttledFor = Optional.empty();

  /** When {@link #throttledFor} is over; empty if no copy was refused. */
  Optional<Instant> notBefore = Optional.empty();

  /** Whether the application waits no longer, so that no further copy is sent. */
  boolean abandoned;

  Outgoing(String id, String frame, Optional<Duration> replyWithin) {
    this.id = id;
    this.frame = frame;
    this.replyWithin = replyWithin;
  }

  /** Notes that a copy is sent. */
  void sent(Instant now) {
    sentAt = sentAt.or(() -> Optional.of(now));
    copies++;
  }

  /** Notes that a copy was refused for the tenant's rate. */
  void throttled(Duration retryAfter, Instant now) {
    if (copies <= 1) {
      // Nothing was processed. With several copies, another one may have been.
      sentAt = Optional.empty();
      copies = 0;
    }
    acceptedAt = Optional.empty();
    throttledFor = Optional.of(retryAfter);
    notBefore = Optional.of(now.plus(retryAfter));
  }

  /** The result of a message that nobody answers any more. */
  SendResult unanswered(SendResult.NotSent.Cause notSent) {
    if (sentAt.isPresent()) {
      return new SendResult.Unanswered(id, acceptedAt.isPresent());
    }
    return throttledFor
        .<SendResult>map(time -> new SendResult.Throttled(id, time))
        .orElseGet(() -> new SendResult.NotSent(id, notSent));
  }
}
