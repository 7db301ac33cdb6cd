package dev.tollgate.handlers.jwt;

import dev.tollgate.core.Unavailable;

/** Reads documents that an issuer publishes. */
@FunctionalInterface
interface KeySetReader {
  /**
   * The issuer's JWK set (RFC 7517), as JSON.
   *
   * @throws Unavailable if it cannot be fetched
   */
  String read();
}
