package dev.tollgate.core.provisioning;

/** The progress of an asynchronous change. */
public enum Progress {
  /** The change is complete. */
  DONE,
  /** The change, or another one that blocks it, is in progress; call again later. */
  IN_PROGRESS
}
