package dev.tollgate.core.message;

import dev.tollgate.core.message.MessageProcessing.Result;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One message on its way through: how it is paid for, and what becomes of it, which is said once.
 */
final class Passage {
  private final Incoming incoming;
  private final AtomicReference<@Nullable Result> result = new AtomicReference<>();
  private volatile Fare fare = new Free();

  Passage(Incoming incoming) {
    this.incoming = incoming;
  }

  Incoming incoming() {
    return incoming;
  }

  Fare fare() {
    return fare;
  }

  void pay(Fare with) {
    fare = with;
  }

  /** Whether it has been said what became of it, perhaps by somebody who would not wait longer. */
  boolean isOver() {
    return result.get() != null;
  }

  /** Says what became of it, unless that was said; returns what was said first. */
  Result end(Result with) {
    @Nullable Result before = result.compareAndExchange(null, with);
    return before == null ? with : before;
  }

  /** Whether a token was spent for it and it is not done all the same. */
  boolean isPaidInVain() {
    @Nullable Result known = result.get();
    return fare instanceof Paid && (known == null || !known.outcome().isDone());
  }

  /** How a message is paid for. */
  sealed interface Fare {}

  /** With a token. */
  record Paid() implements Fare {}

  /** Not at all, and it may pass. */
  record Free() implements Fare {}

  /**
   * Not at all, and it is refused.
   *
   * @param retryAt when there is a token for it
   */
  record Refused(Instant retryAt) implements Fare {}

  /**
   * That cannot be said now, and so it may not pass now.
   *
   * @param cause what failed
   */
  record Unasked(String cause) implements Fare {}
}
