package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.util.Optional;

/** Renders versions of tenants and tiers as entity tags and as failed preconditions. */
final class Versions {
  private static final String ETAG = "etag";

  private Versions() {}

  /** The response with the entity tag of a version. */
  static Response tagged(Response response, long version) {
    return response.with(ETAG, IfMatch.etag(version));
  }

  /**
   * The response to a request whose {@code If-Match} does not name the current version.
   *
   * @param type the type of the resource, capitalized
   * @param version the current version; empty if the resource does not exist
   */
  static Response mismatch(String type, Object name, Optional<Long> version) {
    String resource = type + " `" + name + "`";
    return version
        .map(
            current ->
                tagged(
                    Problem.preconditionFailed(
                            resource
                                + " has version "
                                + current
                                + ", which If-Match does not name. Read it again and repeat the"
                                + " change.")
                        .with("version", current)
                        .response(),
                    current))
        .orElseGet(
            () ->
                Problem.preconditionFailed(
                        resource + " does not exist, but the request has If-Match.")
                    .response());
  }
}
