package dev.tollgate.aws;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.function.Supplier;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

/** Sends SDK requests and turns SDK errors into {@link Unavailable}. */
public final class SdkCalls {
  private SdkCalls() {}

  /**
   * Sends a request. {@code request} itself catches the exceptions that are regular results.
   *
   * @param what the service and the operation, for the error
   * @throws Unavailable if the SDK fails
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
   * @param what the service and the operation, for the error
   * @throws Unavailable if the SDK fails
   */
  public static WriteResult write(String what, Runnable request) {
    return ask(
        what,
        () -> {
          try {
            request.run();
            return WriteResult.DONE;
          } catch (ConditionalCheckFailedException conflict) {
            return WriteResult.CONFLICT;
          }
        });
  }
}
