package dev.tollgate.core.testing.memory;

import dev.tollgate.core.provisioning.CredentialsPolicy;
import dev.tollgate.core.testing.contract.CredentialsPolicyContract;
import java.util.Optional;

class InMemoryCredentialsPolicyTest extends CredentialsPolicyContract {
  private final InMemoryCredentialsPolicy policy = new InMemoryCredentialsPolicy(TABLE, ROLES);

  @Override
  protected CredentialsPolicy policy() {
    return policy;
  }

  @Override
  protected void set(Optional<String> document) {
    policy.set(document);
  }
}
