package dev.tollgate.local.gateway.mapping;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Calls AWS services for an API. */
@FunctionalInterface
public interface ServiceCalls {

  /**
   * A request.
   *
   * @param roleArn the role whose rights the call has
   * @param service the service as signatures name it, such as {@code sqs}
   * @param target path and query
   * @param timeout how long to wait for the answer
   */
  record Request(
      String roleArn,
      String service,
      String method,
      String target,
      Map<String, String> headers,
      String body,
      Duration timeout) {}

  /** What a service answered. */
  record Answer(int status, String body) {}

  /**
   * Calls, and waits for the answer.
   *
   * @return nothing if it took too long
   * @throws java.io.UncheckedIOException if the services cannot be reached
   */
  Optional<Answer> call(Request request);
}
