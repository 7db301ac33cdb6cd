package dev.tollgate.core.connect;

/** Why a connection is refused. */
public enum Refusal {
  /** The tenant or session does not exist, the session has ended, or an id is malformed. */
  UNKNOWN(403, "no such tenant or session"),
  /** The tenant is not active. */
  SUSPENDED(403, "the tenant is suspended"),
  /** The tenant has reached {@code tenantConnections}. */
  TENANT_CONNECTIONS(
      429, "the tenant has as many connections as its limit tenantConnections allows"),
  /** The session has reached {@code connectionsPerSession}. */
  SESSION_CONNECTIONS(
      429, "the session has as many connections as its limit connectionsPerSession allows"),
  /** The session has reached {@code sessionPerMinute}. */
  SESSION_RATE(429, "the session opened as many connections as sessionPerMinute allows"),
  /** The tenant's bucket is empty. */
  TENANT_RATE(429, "the tenant opened as many connections as tenantPerMinute allows"),
  /** The bucket's queue failed, and the tier refuses connections then. */
  UNDECIDED(503, "the tenant's token queue does not respond"),
  /** The lease of the token ended before the connection was registered. */
  LEASE_ENDED(503, "the handshake took too long");

  private final int status;
  private final String detail;

  Refusal(int status, String detail) {
    this.status = status;
    this.detail = detail;
  }

  /** Whether a limit refuses, or a queue without which no limit can be checked. */
  public boolean isByLimit() {
    return this != UNKNOWN && this != SUSPENDED;
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
