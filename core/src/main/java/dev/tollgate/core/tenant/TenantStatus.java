package dev.tollgate.core.tenant;

/** Whether a tenant is active. */
public enum TenantStatus {
  /** Its sessions may connect. */
  ACTIVE,
  /** New connections are refused and its buckets are not filled. Open connections stay open. */
  SUSPENDED,
  /** Its resources are being deleted, and then its row. */
  OFFBOARDING
}
