package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.Town;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TokenClaimsTest {
  private final Town town = new Town();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = Town.connects(acme);
  private final TokenClaims claims = new TokenClaims(town.buckets(), town.queue(), town.clock());

  private Claim claim(int n) {
    return claims.tryClaim(acme.id(), Action.CONNECT, n);
  }

  @Test
  void one_claim_of_n_costs_as_much_as_n_claims_of_one() {
    assertThat(claim(25)).isInstanceOf(Claim.Granted.class);
    assertThat(town.queue().level(bucket)).isEqualTo(35);
    for (int i = 0; i < 25; i++) {
      assertThat(claim(1)).isInstanceOf(Claim.Granted.class);
    }
    assertThat(town.queue().level(bucket)).isEqualTo(10);
  }

  @Test
  void a_claim_for_more_than_there_is_takes_nothing() {
    claim(35);
    assertThat(claim(26)).isInstanceOf(Claim.Denied.class);
    assertThat(town.queue().available(bucket)).isEqualTo(25);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 20, 60})
  void whoever_waits_alone_as_told_is_granted(int n) {
    claim(60);
    Instant retryAt = ((Claim.Denied) claim(n)).retryAt();
    Instant tick = Town.START.plusSeconds(60);
    for (; !tick.isAfter(retryAt); tick = tick.plusSeconds(60)) {
      town.clock().set(tick);
      town.fill().fill(bucket, tick);
    }
    town.clock().set(retryAt);
    assertThat(claim(n)).isInstanceOf(Claim.Granted.class);
    assertThat(retryAt).isBeforeOrEqualTo(Town.START.plusSeconds(n == 1 ? 61 : 181));
  }

  @Test
  void a_held_token_can_be_given_back() {
    Claim.Granted held =
        (Claim.Granted) claims.reserve(acme.id(), Action.CONNECT, 5, Duration.ofSeconds(10));
    assertThat(town.queue().available(bucket)).isEqualTo(55);
    claims.giveBack(held);
    assertThat(town.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void a_token_whose_lease_has_ended_cannot_be_spent() {
    Claim.Granted held =
        (Claim.Granted) claims.reserve(acme.id(), Action.CONNECT, 5, Duration.ofSeconds(10));
    town.clock().advance(Duration.ofSeconds(10));
    assertThat(claims.settle(held)).isInstanceOf(Claim.Undecided.class);
    assertThat(town.queue().available(bucket)).isEqualTo(60);
  }

  @Test
  void a_refusal_of_an_empty_bucket_asks_the_queue_once() {
    claim(60);
    claim(1);
    long asked = town.queue().reserves();
    claim(1);
    assertThat(town.queue().reserves()).isEqualTo(asked);
  }

  @Test
  void a_bucket_that_is_falsely_found_empty_once_grants_all_the_same() {
    town.queue().seemEmptyOnce();
    assertThat(claim(25)).isInstanceOf(Claim.Granted.class);
  }

  @Test
  void a_queue_that_cannot_be_asked_leaves_it_undecided() {
    town.queue().outage().begin();
    assertThat(claim(1)).isInstanceOf(Claim.Undecided.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 0, 61, Integer.MAX_VALUE})
  void a_number_that_the_bucket_can_never_hold_is_refused(int n) {
    assertThatThrownBy(() -> claim(n))
        .isInstanceOf(InvalidValue.class)
        .hasMessage("n: " + n + " (expected: 1 to 60)");
  }

  @Test
  void an_action_that_the_tenant_has_no_bucket_for_is_refused() {
    assertThatThrownBy(() -> claims.tryClaim(acme.id(), new Action("fax"), 1))
        .hasMessageStartingWith("bucket: fax_acme ");
  }
}
