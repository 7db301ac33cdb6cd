package dev.tollgate.core.connect;

import dev.tollgate.core.tenant.Limit;
import java.util.Optional;

/** Why a connection is refused. */
public enum Refusal {
  /** The tenant or session does not exist, the session has ended, or an id is malformed. */
  UNKNOWN(403, Optional.empty(), "no such tenant or session"),
  /** The tenant is not active. */
  SUSPENDED(403, Optional.empty(), "the tenant is suspended"),
  /** The tenant has reached {@code tenantConnections}. */
  TENANT_CONNECTIONS(
      429,
      Optional.of(Limit.TENANT_CONNECTIONS),
      "the tenant has as many connections as its limit tenantConnections allows"),
  /** The session has reached {@code connectionsPerSession}. */
  SESSION_CONNECTIONS(
      429,
      Optional.of(Limit.CONNECTIONS_PER_SESSION),
      "the session has as many connections as its limit connectionsPerSession allows"),
  /** The session has reached {@code sessionPerMinute}. */
  SESSION_RATE(
      429,
      Optional.of(Limit.SESSION_PER_MINUTE),
      "the session opened as many connections as sessionPerMinute allows"),
  /** The tenant's bucket is empty. */
  TENANT_RATE(
      429,
      Optional.of(Limit.TENANT_PER_MINUTE),
      "the tenant opened as many connections as tenantPerMinute allows"),
  /** The bucket's queue failed, and the tier refuses connections then. */
  UNDECIDED(503, Optional.of(Limit.TENANT_PER_MINUTE), "the tenant's token queue does not respond"),
  /** The lease of the token ended before the connection was registered. */
  LEASE_ENDED(503, Optional.of(Limit.TENANT_PER_MINUTE), "the handshake took too long");

  private final int status;
  private final Optional<Limit> limit;
  private final String detail;

  Refusal(int status, Optional<Limit> limit, String detail) {
    this.status = status;
    this.limit = limit;
    this.detail = detail;
  }

  /** The limit that refuses, or that cannot be checked; empty if no limit is the reason. */
  public Optional<Limit> limit() {
    return limit;
  }

  /** The HTTP status of the refused handshake. */
  public int status() {
    return status;
  }

  /** The reason in words. */
  public String detail() {
    return detail;
  }
}
