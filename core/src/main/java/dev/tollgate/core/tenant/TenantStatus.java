package dev.tollgate.core.tenant;

/** Whether a tenant is served. */
public enum TenantStatus {
  /** Its sessions may connect. */
  ACTIVE,
  /** Nothing new is let in and its buckets are not filled; it keeps what it has. */
  SUSPENDED,
  /** It is being removed; once nothing of it is left, its row goes too. */
  OFFBOARDING
}
