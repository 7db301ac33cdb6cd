package dev.tollgate.local.iam;

/**
 * Who a policy of a resource or a role's trust policy sees asking.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html">Principal</a>
 */
public sealed interface Caller {
  /** Somebody who has assumed a role. */
  record Role(String arn) implements Caller {}

  /** A service of AWS, such as {@code scheduler.amazonaws.com}. */
  record Service(String name) implements Caller {}
}
