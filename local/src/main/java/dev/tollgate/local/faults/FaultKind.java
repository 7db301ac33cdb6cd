package dev.tollgate.local.faults;

import java.util.Locale;

/** A fault that the services of AWS are documented, or known, to have. */
public enum FaultKind {
  /**
   * {@code ReceiveMessage} returns no message from a queue that has some (SQS, short and long
   * polling).
   */
  QUEUE_FALSELY_EMPTY,
  /**
   * A message of a standard queue is delivered again after it was deleted (SQS, at-least-once
   * delivery).
   */
  QUEUE_DELIVERS_TWICE,
  /** The approximate numbers of a queue's messages are those of the previous request. */
  QUEUE_LEVEL_STALE,
  /** A message of a standard queue becomes visible up to 20 s late. */
  QUEUE_MESSAGE_LATE,
  /** For a minute, a queue keeps messages for only half of their retention. */
  QUEUE_EXPIRES_EARLY,
  /** One entry of a batch fails. */
  QUEUE_ENTRY_FAILS,
  /**
   * A query of an index returns what the same query returned before (DynamoDB, global secondary
   * indexes are eventually consistent).
   */
  INDEX_STALE,
  /**
   * A function that is created stays {@code Pending} for up to 20 s, and one that is changed {@code
   * InProgress} (Lambda function states).
   */
  FUNCTION_PENDING,
  /**
   * An event source mapping stays {@code Creating}, {@code Updating} or {@code Deleting} for up to
   * 20 s.
   */
  MAPPING_PENDING,
  /**
   * A schedule group that is deleted stays {@code DELETING} for up to 20 s (EventBridge Scheduler,
   * DeleteScheduleGroup).
   */
  SCHEDULE_GROUP_DELETING,
  /** A schedule fires up to 59 s late. */
  SCHEDULE_LATE,
  /** A schedule fires twice. */
  SCHEDULE_TWICE,
  /** A schedule does not fire. */
  SCHEDULE_MISSED,
  /** A closed socket causes no {@code $disconnect} event. */
  DISCONNECT_LOST,
  /** Records of a stream are delivered again after they were processed. */
  STREAM_REPLAYED,
  /**
   * A conditional write takes effect, but the connection breaks before the answer, so that a retry
   * conflicts with the first attempt.
   */
  WRITE_UNANSWERED,
  /** A function's process ends at one of its requests, with everything that runs in it. */
  FUNCTION_KILLED,
  /** A function pauses for three seconds at one of its requests. */
  FUNCTION_FROZEN,
  /** A request of a function is never answered, so that the request or the function times out. */
  FUNCTION_HANGS;

  /** The name in a plan, such as {@code queue-falsely-empty}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
