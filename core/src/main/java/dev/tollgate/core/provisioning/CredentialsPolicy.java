package dev.tollgate.core.provisioning;

import dev.tollgate.core.Unavailable;
import java.util.Optional;
import java.util.Set;

/** Port: the resource policy of the table in which functions share tenants' credentials. */
public interface CredentialsPolicy {
  /** The ARN of the table. */
  String table();

  /** The ARNs of the roles that the deployment lets access the table's rows. */
  Set<String> roles();

  /**
   * The policy as the table has it now, in JSON; empty if the table has none.
   *
   * @throws Unavailable if the policy cannot be read
   */
  Optional<String> document();
}
