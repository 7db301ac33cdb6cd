package dev.tollgate.local.scheduler;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * Calls the targets of schedules. The methods are called from several threads at once and may
 * block. An exception counts as a failure that may be retried.
 */
public interface Targets {
  /**
   * Why the service cannot assume a schedule's role; empty if it can. Called when a schedule is
   * created or changed.
   */
  default Optional<String> refusal(Rights rights) {
    return Optional.empty();
  }

  /**
   * Calls an operation of an API. Every answer with status 200 counts as a delivery, so a batch
   * that fails in part is not repeated. An event for a function is delivered when Lambda has
   * accepted it; an error of the function is not a failure here. An implementation may wait for the
   * end of the function, so that a settled scheduler means settled functions.
   *
   * @param rights the rights of the schedule
   * @param service the name of the service in the SDK, such as {@code sqs}
   * @param operation the operation, such as {@code SendMessageBatch}
   * @param request the members of the request
   */
  Outcome call(Rights rights, String service, String operation, ObjectNode request);

  /** Called when the service gives up an event of a schedule in a group. */
  default void dropped(String group) {}

  /**
   * The rights with which a target is called.
   *
   * @param roleArn the target's execution role
   * @param groupArn the group of the schedule, which the service passes as {@code aws:SourceArn}
   *     when it assumes the role
   */
  record Rights(String roleArn, String groupArn) {}

  /** The result of a call to a target. */
  sealed interface Outcome {}

  /** The target has accepted the event. */
  record Delivered() implements Outcome {}

  /**
   * The target has not accepted the event.
   *
   * @param errorCode the service's error code, such as {@code
   *     AWS.SimpleQueueService.NonExistentQueue}
   * @param retryable whether another attempt may succeed; if not, the event goes to the dead-letter
   *     queue at once
   */
  record Failed(String errorCode, String message, boolean retryable) implements Outcome {
    /** Refuses absent values. */
    public Failed {
      requireNonNull(errorCode, "errorCode");
      requireNonNull(message, "message");
    }
  }
}
