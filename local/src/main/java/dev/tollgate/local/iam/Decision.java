package dev.tollgate.local.iam;

/** The decision on an access. */
public sealed interface Decision {
  /** The access is allowed. */
  record Allowed() implements Decision {}

  /**
   * The access is denied.
   *
   * @param message the message of AWS
   */
  record Denied(String message) implements Decision {}
}
