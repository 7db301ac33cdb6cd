package dev.tollgate.local.endpoint;

import java.util.Map;

/**
 * Who makes a call.
 *
 * @param name the function, or whoever else was given the first credentials; assuming a role keeps
 *     it
 * @param roleArn the role whose rights the caller has
 * @param sessionTags the tags of the session in which the role was assumed
 */
public record Principal(String name, String roleArn, Map<String, String> sessionTags) {
  /** Copies the tags. */
  public Principal {
    sessionTags = Map.copyOf(sessionTags);
  }

  /** The session of the role, as errors name it. */
  public String assumedRoleArn() {
    return roleArn.replace(":iam:", ":sts:").replace(":role/", ":assumed-role/") + "/" + name;
  }

  /** A caller with a role of its own. */
  public static Principal of(String name, String roleArn) {
    return new Principal(name, roleArn, Map.of());
  }
}
