package dev.tollgate.core.tenant;

/** Whether a tenant's messages have their own queue and function. */
public enum Isolation {
  /** The tenant has its own queue and function. */
  SILO,
  /** The tenant shares the pool's queue and function. */
  POOL
}
