package dev.tollgate.core;

/** Whether a conditional write was done. */
public enum WriteResult {
  /** It stands as asked. */
  DONE,
  /** Something else stands there; nothing was changed. */
  CONFLICT
}
