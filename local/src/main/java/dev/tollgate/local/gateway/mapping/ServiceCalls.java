package dev.tollgate.local.gateway.mapping;

import java.io.IOException;
import java.util.Map;

/** Calls AWS services for an API. */
@FunctionalInterface
public interface ServiceCalls {
  /** The answer of a service. */
  record Answer(int status, String body) {}

  /**
   * Calls a service and waits for the answer.
   *
   * @param integration the service, the method, the time-out, and the role whose rights the call
   *     has
   * @param target path and query
   * @throws IOException if the services cannot be reached or the answer takes too long
   */
  Answer call(
      Integration.Service integration, String target, Map<String, String> headers, String body)
      throws IOException;
}
