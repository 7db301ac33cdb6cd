package dev.tollgate.local.gateway.jwt;

import com.fasterxml.jackson.databind.node.ObjectNode;

/** The decision of a JWT authorizer. */
public sealed interface JwtVerdict {

  /**
   * The request is authorized.
   *
   * @param context what becomes {@code requestContext.authorizer.jwt}: {@code claims}, each of them
   *     a text, and {@code scopes}
   */
  record Passed(ObjectNode context) implements JwtVerdict {}

  /**
   * The request is refused.
   *
   * @param status 401, or 403 if the token holds and none of its scopes is the route's
   * @param challenge the header {@code www-authenticate} (RFC 6750, section 3)
   * @param trouble why the token could not be checked; empty if it was checked
   */
  record Refused(int status, String challenge, String trouble) implements JwtVerdict {}
}
