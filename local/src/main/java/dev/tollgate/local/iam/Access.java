package dev.tollgate.local.iam;

/**
 * An action on a resource, which a policy must allow.
 *
 * @param action such as {@code sqs:SendMessage}
 * @param resource its ARN, or {@code *} for an action without a resource
 * @param context the condition keys of the request
 */
public record Access(String action, String resource, Context context) {
  /** The same access in another context. */
  Access in(Context other) {
    return new Access(action, resource, other);
  }

  /** An access without condition keys. */
  public static Access to(String action, String resource) {
    return new Access(action, resource, Context.EMPTY);
  }
}
