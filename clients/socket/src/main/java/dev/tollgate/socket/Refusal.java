package dev.tollgate.socket;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A limit that refuses a connection.
 *
 * @param reason such as {@code TENANT_RATE} or {@code SESSION_CONNECTIONS}
 * @param detail the reason in words
 * @param ahead how many sessions are before this one; empty if the session has no place in line
 * @param retryAfter when a connection may be tried; empty if time alone does not help
 * @param document the session as the session API showed it, in JSON
 */
public record Refusal(
    String reason,
    String detail,
    OptionalLong ahead,
    Optional<Duration> retryAfter,
    String document) {
  /** The reason of a tenant that is not served. */
  static final String SUSPENDED = "SUSPENDED";
}
