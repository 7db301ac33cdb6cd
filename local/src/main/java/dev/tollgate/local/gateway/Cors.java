package dev.tollgate.local.gateway;

import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Glob;
import java.util.List;
import java.util.OptionalInt;

/**
 * The CORS configuration of an HTTP API (API Gateway Developer Guide, "Configure CORS for HTTP
 * APIs").
 *
 * @param allowOrigins origins, {@code *}, {@code http://*} or {@code https://*}
 * @param allowMethods methods, or {@code *}
 * @param allowHeaders request headers, or {@code *}
 * @param exposeHeaders response headers that a script may read, or {@code *}
 * @param maxAgeSeconds how long a browser may remember a preflight's answer
 * @param allowCredentials whether a browser may send cookies
 */
public record Cors(
    List<String> allowOrigins,
    List<String> allowMethods,
    List<String> allowHeaders,
    List<String> exposeHeaders,
    OptionalInt maxAgeSeconds,
    boolean allowCredentials) {

  boolean allows(String origin) {
    return allowOrigins.stream()
        .anyMatch(allowed -> new Glob(allowed).matches(origin, Context.EMPTY));
  }
}
