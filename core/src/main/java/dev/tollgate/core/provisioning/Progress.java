package dev.tollgate.core.provisioning;

/** How far something has come that takes its time. */
public enum Progress {
  /** It is as asked. */
  DONE,
  /** It is on its way, or something else must come to its end first; ask again later. */
  IN_PROGRESS
}
