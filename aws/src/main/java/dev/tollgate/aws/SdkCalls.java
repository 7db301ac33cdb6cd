package dev.tollgate.aws;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.Optional;
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
   * Sends a request to something that may be missing or differ.
   *
   * @param what the service and the operation, for the error
   * @return empty if the service answers with the exception {@code none}
   * @throws Unavailable if the SDK fails otherwise
   */
  public static <T> Optional<T> askUnless(
      String what, Class<? extends SdkException> none, Supplier<T> request) {
    try {
      return Optional.of(request.get());
    } catch (SdkException failure) {
      if (none.isInstance(failure)) {
        return Optional.empty();
      }
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
    return askUnless(
            what,
            ConditionalCheckFailedException.class,
            () -> {
              request.run();
              return WriteResult.DONE;
            })
        .orElse(WriteResult.CONFLICT);
  }
}
