package dev.tollgate.local.faults;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** A way in which AWS's services are documented, or known, to be nasty. */
public enum Misfortune {
  /**
   * {@code ReceiveMessage} finds nothing though there is something (SQS, short and long polling).
   */
  QUEUE_FALSELY_EMPTY,
  /**
   * A message of a standard queue comes again although it was deleted with success (SQS,
   * at-least-once delivery).
   */
  QUEUE_DELIVERS_TWICE,
  /** A queue's approximate numbers of messages are those of the time before. */
  QUEUE_LEVEL_STALE,
  /** A message of a standard queue can be received only up to 20 s later. */
  QUEUE_MESSAGE_LATE,
  /** For a minute, a queue keeps messages for half as long as it should. */
  QUEUE_EXPIRES_EARLY,
  /** An entry of a batch fails, and the others do not. */
  QUEUE_ENTRY_FAILS,
  /** A schedule fires up to 59 s late. */
  SCHEDULE_LATE,
  /** A schedule fires twice. */
  SCHEDULE_TWICE,
  /** A schedule does not fire. */
  SCHEDULE_MISSED,
  /** Nobody learns that a socket has closed. */
  DISCONNECT_LOST,
  /** Records of a stream come again after they were processed. */
  STREAM_REPLAYED,
  /**
   * A conditional write takes effect, but the connection breaks before the answer: whoever tries
   * again is in conflict with itself.
   */
  WRITE_UNANSWERED,
  /** A function's process dies at one of its requests, with all that it was doing. */
  FUNCTION_KILLED,
  /** A function stands still for three seconds at one of its requests. */
  FUNCTION_FROZEN,
  /** A function's request is never answered, so that the request or the function times out. */
  FUNCTION_HANGS;

  /** How a plan names it, such as {@code queue-falsely-empty}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  static Optional<Misfortune> of(String key) {
    return Arrays.stream(values()).filter(one -> one.key().equals(key)).findFirst();
  }
}
