package dev.tollgate.local.iam;

/** Whether an access is allowed. */
public sealed interface Decision {
  /** It is. */
  record Allowed() implements Decision {}

  /**
   * It is not.
   *
   * @param message as AWS puts it
   */
  record Denied(String message) implements Decision {}
}
