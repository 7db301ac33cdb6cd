package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The decision of an authorizer on a request. */
public sealed interface Decision {
  /**
   * The request is admitted.
   *
   * @param context the value of {@code requestContext.authorizer}; empty if the event has none
   */
  record Admitted(ObjectNode context) implements Decision {}

  /**
   * The request is refused.
   *
   * @param status the HTTP status
   * @param challenge the header {@code www-authenticate} (RFC 6750, section 3), or empty
   * @param trouble the problem that prevented a check of the request; empty if it was checked
   */
  record Refused(int status, String challenge, String trouble) implements Decision {}
}
