package dev.tollgate.local.gateway.mapping;

import java.util.Map;
import java.util.Optional;

/** Calls AWS services for an API. */
@FunctionalInterface
public interface ServiceCalls {
  /** What a service answered. */
  record Answer(int status, String body) {}

  /**
   * Calls, and waits for the answer.
   *
   * @param integration the service, the method, the time-out, and the role whose rights the call
   *     has
   * @param target path and query
   * @return nothing if it took too long
   * @throws java.io.UncheckedIOException if the services cannot be reached
   */
  Optional<Answer> call(
      Integration.Service integration, String target, Map<String, String> headers, String body);
}
