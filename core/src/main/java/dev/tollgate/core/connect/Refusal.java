package dev.tollgate.core.connect;

/** Why a connection is not let in. */
public enum Refusal {
  /** No such tenant or session, a session that is over, or ids that cannot be right. */
  UNKNOWN(403, "no such tenant or session"),
  /** The tenant is not served now. */
  SUSPENDED(403, "the tenant is suspended"),
  /** The tenant has as many connections as it may have. */
  TENANT_CONNECTIONS(
      429, "the tenant has as many connections as its limit tenantConnections allows"),
  /** The session has as many connections as it may have. */
  SESSION_CONNECTIONS(
      429, "the session has as many connections as its limit connectionsPerSession allows"),
  /** The session opened too many connections in the last minute. */
  SESSION_RATE(429, "the session opened as many connections as sessionPerMinute allows"),
  /** The tenant's bucket is empty. */
  TENANT_RATE(429, "the tenant opened as many connections as tenantPerMinute allows"),
  /** The bucket could not be asked, and the tier says that this refuses. */
  UNDECIDED(503, "the tenant's bucket cannot be asked now"),
  /** The token was held for too long before the connection was made. */
  LEASE_ENDED(503, "the handshake took too long");

  private final int status;
  private final String detail;

  Refusal(int status, String detail) {
    this.status = status;
    this.detail = detail;
  }

  /** The HTTP status of a handshake that is refused for this. */
  public int status() {
    return status;
  }

  /** The reason in words. */
  public String detail() {
    return detail;
  }
}
