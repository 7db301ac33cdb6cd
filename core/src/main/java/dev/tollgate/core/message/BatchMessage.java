package dev.tollgate.core.message;

import dev.tollgate.core.message.MessageProcessing.Result;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * One message of a batch in progress: how it is paid for, its result, which is set once, and errors
 * of frames that could not be delivered or of the log. Thread-safe.
 */
final class BatchMessage {
  private final IncomingMessage incoming;
  private final AtomicReference<@Nullable Result> result = new AtomicReference<>();
  private final AtomicInteger undelivered = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> error = new AtomicReference<>();
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

  /** Whether the frame is refused, for lack of a token or because its tenant is suspended. */
  boolean isRefused() {
    return payment instanceof Throttled || payment instanceof Suspended;
  }

  /** Whether the result is set. A batch that runs out of time sets it from another thread. */
  boolean hasResult() {
    return result.get() != null;
  }

  /** Sets the result if none is set; returns the first one. */
  Result end(Result with) {
    @Nullable Result before = result.compareAndExchange(null, with);
    return before == null ? with : before;
  }

  /** Counts an undelivered frame and keeps the first error. */
  void undelivered(Throwable why) {
    undelivered.incrementAndGet();
    error.compareAndSet(null, why);
  }

  /** Keeps the error of a failed write to the log. */
  void unlogged(Throwable why) {
    error.compareAndSet(null, why);
  }

  /** The result, or else {@code otherwise}, with the undelivered frames so far. */
  Result report(Result otherwise) {
    Result end = end(otherwise);
    return new Result(
        end.outcome(), end.cause().or(() -> Optional.ofNullable(error.get())), undelivered.get());
  }

  /** Whether a token was spent for the message although it was not processed. */
  boolean isPaidButNotProcessed() {
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

  /** It needs no token: the limit is off, or the message was redriven. */
  record Free() implements Payment {}

  /** Without a token: the bucket is empty, and the limit is only observed. */
  record Observed() implements Payment {}

  /** Without a token: the queue failed, and the tier admits then. */
  record WithoutToken() implements Payment {}

  /**
   * The bucket is empty: the frame is refused.
   *
   * @param retryAt when the next token for it is due
   */
  record Throttled(Instant retryAt) implements Payment {}

  /** Its tenant is not active: the message is refused. */
  record Suspended() implements Payment {}

  /**
   * The queue failed, and the tier refuses then.
   *
   * @param cause what failed
   */
  record Undecided(String cause) implements Payment {}
}
