package dev.tollgate.local.scheduler;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Optional;

/**
 * What a schedule can call. The methods are called from several threads at once and may block; an
 * exception out of them counts as a failure that is worth a retry.
 */
public interface Targets {
  /**
   * Why the service cannot assume a schedule's role, if it cannot: asked when a schedule is made or
   * changed, and on AWS again whenever it fires.
   */
  default Optional<String> refusal(Rights rights) {
    return Optional.empty();
  }

  /**
   * Hands an event to a function, as {@code Invoke} with {@code InvocationType=Event} does: the
   * event is delivered as soon as Lambda has accepted it, and what the function then does with it
   * is no concern of the scheduler. An implementation may return only when the function has ended,
   * so that a settled scheduler means settled functions; a function's error is not a failure here.
   *
   * @param rights those that the schedule has
   * @param functionArn the function, its version or its alias
   * @param payload a JSON text
   */
  Outcome invokeFunction(Rights rights, String functionArn, String payload);

  /**
   * Calls an operation of an API: queues, universal targets and dead letters. An answer with status
   * 200 is a delivery, whatever it says: a batch that fails in part is not repeated.
   *
   * @param rights those that the schedule has
   * @param service the name of the service in the SDK, such as {@code sqs}
   * @param operation the operation, such as {@code SendMessageBatch}
   * @param request the members of the request
   */
  Outcome callApi(Rights rights, String service, String operation, ObjectNode request);

  /**
   * With what rights a target is called.
   *
   * @param roleArn the target's execution role
   * @param groupArn the group of the schedule on whose behalf the role is assumed: what the service
   *     gives as {@code aws:SourceArn}
   */
  record Rights(String roleArn, String groupArn) {}

  /** How a call to a target ended. */
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
