package dev.tollgate.core;

/** The result of a conditional write. */
public enum WriteResult {
  /** The row was written. */
  DONE,
  /** The condition failed; nothing was changed. */
  CONFLICT
}
