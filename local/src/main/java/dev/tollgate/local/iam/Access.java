package dev.tollgate.local.iam;

/**
 * One action on one resource, which must be allowed.
 *
 * @param action such as {@code sqs:SendMessage}
 * @param resource its ARN, or {@code *} for an action that is on no resource
 * @param context what is known of the request
 */
public record Access(String action, String resource, Context context) {
  /** An access of which nothing more is known. */
  public static Access to(String action, String resource) {
    return new Access(action, resource, Context.EMPTY);
  }
}
