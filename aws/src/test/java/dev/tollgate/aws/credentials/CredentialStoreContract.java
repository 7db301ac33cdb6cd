package dev.tollgate.aws.credentials;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

/** What every {@link CredentialStore} that is shared must do. */
abstract class CredentialStoreContract {
  private static final Instant NOW = Samples.NOW.truncatedTo(ChronoUnit.SECONDS);
  private static final TenantId ACME = new TenantId("acme");
  private static final TemporaryCredentials FIRST = until(NOW.plus(Duration.ofHours(1)));

  /** The store under test, empty. */
  abstract CredentialStore store();

  static TemporaryCredentials until(Instant end) {
    return new TemporaryCredentials("ASIA" + end.getEpochSecond(), "secret", "token", end);
  }

  @Test
  void a_tenant_without_credentials_has_none_and_none_to_renew() {
    assertThat(store().find(ACME)).isEmpty();
    assertThat(store().claimRenewal(ACME, FIRST.endsAt(), NOW)).isFalse();
    assertThat(store().find(ACME)).isEmpty();
  }

  @Test
  void every_tenant_has_its_own_credentials() {
    store().store(ACME, FIRST);

    assertThat(store().find(ACME)).contains(FIRST);
    assertThat(store().find(new TenantId("acme2"))).isEmpty();
    assertThat(store().find(new TenantId("acm"))).isEmpty();
  }

  @Test
  void one_of_fifty_callers_may_renew() {
    store().store(ACME, FIRST);

    assertThat(Race.of(50, i -> store().claimRenewal(ACME, FIRST.endsAt(), NOW)))
        .filteredOn(renews -> renews)
        .hasSize(1);
    assertThat(store().find(ACME)).contains(FIRST);
  }

  @Test
  void another_may_renew_if_the_first_one_does_not_within_thirty_seconds() {
    store().store(ACME, FIRST);
    store().claimRenewal(ACME, FIRST.endsAt(), NOW);

    assertThat(store().claimRenewal(ACME, FIRST.endsAt(), NOW.plusSeconds(29))).isFalse();
    assertThat(store().claimRenewal(ACME, FIRST.endsAt(), NOW.plusSeconds(30))).isTrue();
  }

  @Test
  void nobody_renews_what_has_been_renewed_and_the_new_ones_may_be_renewed_at_once() {
    TemporaryCredentials second = until(FIRST.endsAt().plusSeconds(60));
    store().store(ACME, FIRST);
    store().claimRenewal(ACME, FIRST.endsAt(), NOW);
    store().store(ACME, second);

    assertThat(store().find(ACME)).contains(second);
    assertThat(store().claimRenewal(ACME, FIRST.endsAt(), NOW.plusSeconds(60))).isFalse();
    assertThat(store().claimRenewal(ACME, second.endsAt(), NOW)).isTrue();
  }
}
