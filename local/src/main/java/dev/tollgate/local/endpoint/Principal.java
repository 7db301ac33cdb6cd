package dev.tollgate.local.endpoint;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * The caller of an operation.
 *
 * @param name the name of the function, or of another owner of credentials; assuming a role does
 *     not change it
 * @param roleArn the role whose permissions the caller has
 * @param sessionTags the tags of the session in which the role was assumed
 * @param issuedAt when STS issued the credentials; empty if it did not
 */
public record Principal(
    String name, String roleArn, Map<String, String> sessionTags, Optional<Instant> issuedAt) {
  /** Copies the tags. */
  public Principal {
    sessionTags = Map.copyOf(sessionTags);
  }

  /** A caller whose credentials are not from STS. */
  public Principal(String name, String roleArn, Map<String, String> sessionTags) {
    this(name, roleArn, sessionTags, Optional.empty());
  }

  /** The ARN of the role's session, which errors name. */
  public String assumedRoleArn() {
    return roleArn.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + "/" + name;
  }

  /** A caller without session tags. */
  public static Principal of(String name, String roleArn) {
    return new Principal(name, roleArn, Map.of());
  }
}
