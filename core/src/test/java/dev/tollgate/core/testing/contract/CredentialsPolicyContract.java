package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.provisioning.CredentialsPolicy;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of {@link CredentialsPolicy}. */
public abstract class CredentialsPolicyContract {
  protected static final String TABLE =
      "arn:aws:dynamodb:eu-central-1:000000000000:table/Credentials";
  protected static final Set<String> ROLES =
      Set.of("arn:aws:iam::000000000000:role/A", "arn:aws:iam::000000000000:role/B");

  /** The policy of {@link #TABLE}, whose rows {@link #ROLES} may access. */
  protected abstract CredentialsPolicy policy();

  /** Replaces the policy, or removes it. */
  protected abstract void set(Optional<String> document);

  @Test
  void table_and_roles_are_those_of_the_deployment() {
    assertThat(policy().table()).isEqualTo(TABLE);
    assertThat(policy().roles()).isEqualTo(ROLES);
  }

  @Test
  void the_document_is_the_newest() {
    set(Optional.of("{\"Statement\":[]}"));
    assertThat(policy().document()).contains("{\"Statement\":[]}");

    set(Optional.of("{\"Id\":\"ü\"}"));
    assertThat(policy().document()).contains("{\"Id\":\"ü\"}");
  }

  @Test
  void a_removed_policy_has_no_document() {
    set(Optional.of("{}"));
    set(Optional.empty());

    assertThat(policy().document()).isEmpty();
  }
}
