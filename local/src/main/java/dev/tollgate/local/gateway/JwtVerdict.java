package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** What a JWT authorizer says to a request. */
sealed interface JwtVerdict {

  /**
   * It may pass.
   *
   * @param context what becomes {@code requestContext.authorizer.jwt}: {@code claims}, each of them
   *     a text, and {@code scopes}
   */
  record Passed(ObjectNode context) implements JwtVerdict {}

  /**
   * It may not.
   *
   * @param status 401, or 403 if the token holds and none of its scopes is the route's
   * @param challenge the header {@code www-authenticate} (RFC 6750, section 3)
   * @param trouble what kept the token from being checked at all; empty if it was
   */
  record Refused(int status, String challenge, String trouble) implements JwtVerdict {}
}
