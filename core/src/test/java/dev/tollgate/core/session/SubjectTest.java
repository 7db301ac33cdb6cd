package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SubjectTest {
  private static final TenantId ACME = new TenantId("acme");

  @ParameterizedTest
  @ValueSource(strings = {"ann@example.com", "auth0|5f7c8ec7c33c6c004bbafe82", "Ä \n\" \\ 𝔘", "x"})
  void subject_does_not_reveal_the_claim(String sub) {
    Subject subject = Subject.of(ACME, sub);

    assertThat(subject.pseudonym()).matches("[A-Za-z0-9_-]{22}");
    assertThat(subject).isEqualTo(Subject.of(ACME, sub));
    assertThat(subject).isNotEqualTo(Subject.of(ACME, sub + " "));
    assertThat(subject).isNotEqualTo(Subject.of(new TenantId("other"), sub));
  }

  @Test
  void pseudonym_is_the_digest_of_tenant_and_claim() {
    assertThat(Subject.of(ACME, "ann").pseudonym()).isEqualTo("SWOWNV3GmYeFTFrzksvREg");
    assertThatThrownBy(() -> new Subject("ann")).isInstanceOf(InvalidValue.class);
  }
}
