package dev.tollgate.local.iam;

/**
 * The caller that a resource policy or a trust policy matches.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html">Principal</a>
 */
public sealed interface Caller {
  /** A caller with a role. */
  record Role(String arn) implements Caller {}

  /** A service of AWS, such as {@code scheduler.amazonaws.com}. */
  record Service(String name) implements Caller {}
}
