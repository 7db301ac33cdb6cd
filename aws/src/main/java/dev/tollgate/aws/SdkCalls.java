package dev.tollgate.aws;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/**
 * The edge to the SDK: what a service does not answer is {@link Unavailable} on this side of it.
 */
public final class SdkCalls {
  private SdkCalls() {}

  /**
   * Sends a request. Exceptions that are answers have been caught inside {@code request}.
   *
   * @param what the service and the operation
   * @throws Unavailable if there is no answer
   */
  public static <T> T ask(String what, Supplier<T> request) {
    try {
      return request.get();
    } catch (SdkException failure) {
      throw new Unavailable(what, failure);
    }
  }

  /**
   * Sends a conditional write.
   *
   * @param what the service and the operation
   * @throws Unavailable if there is no answer
   */
  public static WriteResult write(String what, Runnable request) {
    return ask(
        what,
        () -> {
          try {
            request.run();
            return WriteResult.DONE;
          } catch (ConditionalCheckFailedException overtaken) {
            return WriteResult.CONFLICT;
          }
        });
  }
}
