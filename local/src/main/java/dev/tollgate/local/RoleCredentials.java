package dev.tollgate.local;

import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.lambda.Credentials;
import java.util.Map;

/** Credentials of a role, in the name of a function. */
record RoleCredentials(AccessKeys accessKeys, Principal principal) implements Credentials {
  @Override
  public Map<String, String> issue() {
    return accessKeys.issue(principal).environment();
  }

  @Override
  public void revoke(Map<String, String> issued) {
    accessKeys.revoke(issued.getOrDefault("AWS_ACCESS_KEY_ID", ""));
  }
}
