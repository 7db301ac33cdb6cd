package dev.tollgate.core.message;

import dev.tollgate.core.message.MessageProcessing.Result;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One message of a batch while it is processed: how it is paid for, its result, which is set once,
 * and what went wrong beside it: frames that could not be delivered, or a log that could not be
 * written. Safe for use by several threads.
 */
final class BatchMessage {
  private final IncomingMessage incoming;
  private final AtomicReference<@Nullable Result> result = new AtomicReference<>();
  private final AtomicInteger undelivered = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> trouble = new AtomicReference<>();
  private volatile Payment payment = new WithoutToken();

  BatchMessage(IncomingMessage incoming) {
    this.incoming = incoming;
  }

  IncomingMessage incoming() {
    return incoming;
  }

  Payment payment() {
    return payment;
  }

  void pay(Payment with) {
    payment = with;
  }

  /** Whether there was no token for the frame, or its tenant may have none. */
  boolean isRefused() {
    return payment instanceof Throttled || payment instanceof Suspended;
  }

  /** Whether the result is set. A batch that runs out of time sets it from outside. */
  boolean hasResult() {
    return result.get() != null;
  }

  /** Sets the result unless it is set; returns the one that counts. */
  Result end(Result with) {
    @Nullable Result before = result.compareAndExchange(null, with);
    return before == null ? with : before;
  }

  /** Counts a frame that a socket did not get, and keeps the first reason. */
  void undelivered(Throwable why) {
    undelivered.incrementAndGet();
    trouble.compareAndSet(null, why);
  }

  /** Keeps why it could not be written down that the message was processed. */
  void unlogged(Throwable why) {
    trouble.compareAndSet(null, why);
  }

  /** The result, or this one if there is none yet, with what is known of the frames by now. */
  Result report(Result otherwise) {
    Result end = end(otherwise);
    return new Result(
        end.outcome(), end.cause().or(() -> Optional.ofNullable(trouble.get())), undelivered.get());
  }

  /**
   * Whether a token was spent for the message at this delivery, although it is not done, or done
   * without anything having been done for it.
   */
  boolean isPaidInVain() {
    @Nullable Result known = result.get();
    return payment instanceof Paid
        && (known == null
            || !known.outcome().isDone()
            || known.outcome() == MessageOutcome.CUT_OFF);
  }

  /** How a message is paid for. */
  sealed interface Payment {}

  /** With a token. */
  record Paid() implements Payment {}

  /** Without a token: the bucket could not be asked, and the tier admits then. */
  record WithoutToken() implements Payment {}

  /**
   * The bucket is empty: the frame is refused.
   *
   * @param retryAt when there is a token for it
   */
  record Throttled(Instant retryAt) implements Payment {}

  /** Its tenant is not active: the message is refused. */
  record Suspended() implements Payment {}

  /**
   * The bucket could not be asked, and the tier refuses then.
   *
   * @param cause what failed
   */
  record Undecided(String cause) implements Payment {}
}
