package dev.tollgate.core.tenant;

/** Whose queue and function a tenant's messages go through. */
public enum Isolation {
  /** The tenant's own. */
  SILO,
  /** The ones that all tenants share. */
  POOL
}
