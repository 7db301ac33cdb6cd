package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
import dev.tollgate.core.idempotency.StoredResponse;
import dev.tollgate.core.testing.Race;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The contract of {@link IdempotencyKeys}. */
public abstract class IdempotencyKeysContract {
  private static final Instant NOW = Instant.parse("2026-03-12T09:15:00Z");
  private static final Instant LEASE_END = NOW.plusSeconds(60);
  private static final Instant TOMORROW = NOW.plusSeconds(86_400);
  private static final StoredResponse ANSWER =
      new StoredResponse(
          201, Map.of("etag", "\"1\"", "location", "/tenants/a"), "{\"ü\":\"\\\"\"}");

  /** The keys under test; none is in use at the start of a test. */
  protected abstract IdempotencyKeys keys();

  private static KeyClaim claim(String fingerprint, String owner, Instant endsAt) {
    return new KeyClaim(new IdempotencyKey("a \"key\""), fingerprint, owner, endsAt);
  }

  private static KeyClaim claim(String owner) {
    return claim("same", owner, LEASE_END);
  }

  @Test
  void key_is_claimed_once_until_the_claim_expires() {
    assertThat(keys().claim(claim("one"), NOW)).isEqualTo(new KeyUse.Claimed());

    assertThat(keys().claim(claim("two"), NOW)).isEqualTo(new KeyUse.InProgress(LEASE_END));
    assertThat(keys().claim(claim("two"), LEASE_END.minusSeconds(1)))
        .isEqualTo(new KeyUse.InProgress(LEASE_END));
    KeyClaim later = claim("same", "two", LEASE_END.plusSeconds(60));
    assertThat(keys().claim(later, LEASE_END)).isEqualTo(new KeyUse.Claimed());
  }

  @Test
  void repeated_claim_by_its_owner_succeeds() {
    keys().claim(claim("one"), NOW);

    assertThat(keys().claim(claim("one"), NOW)).isEqualTo(new KeyUse.Claimed());
  }

  @Test
  void other_keys_are_free() {
    keys().claim(claim("one"), NOW);

    KeyClaim other = new KeyClaim(new IdempotencyKey("other"), "same", "two", LEASE_END);
    assertThat(keys().claim(other, NOW)).isEqualTo(new KeyUse.Claimed());
  }

  @Test
  void stored_response_is_returned_until_it_expires() {
    keys().claim(claim("one"), NOW);
    assertThat(keys().store(claim("one"), ANSWER, TOMORROW)).isEqualTo(WriteResult.DONE);

    assertThat(keys().claim(claim("two"), LEASE_END)).isEqualTo(new KeyUse.Completed(ANSWER));
    assertThat(keys().claim(claim("two"), TOMORROW.minusSeconds(1)))
        .isEqualTo(new KeyUse.Completed(ANSWER));
    KeyClaim renewed = claim("other", "two", TOMORROW.plusSeconds(60));
    assertThat(keys().claim(renewed, TOMORROW)).isEqualTo(new KeyUse.Claimed());
  }

  @Test
  void different_request_gets_neither_the_key_nor_the_response() {
    KeyClaim other = claim("other", "two", LEASE_END);
    keys().claim(claim("one"), NOW);
    assertThat(keys().claim(other, NOW)).isEqualTo(new KeyUse.OtherRequest());

    keys().store(claim("one"), ANSWER, TOMORROW);
    assertThat(keys().claim(other, NOW)).isEqualTo(new KeyUse.OtherRequest());
  }

  @Test
  void released_key_is_free() {
    keys().claim(claim("one"), NOW);
    keys().release(claim("one"));

    assertThat(keys().claim(claim("other", "two", LEASE_END), NOW)).isEqualTo(new KeyUse.Claimed());
  }

  @Test
  void expired_claim_can_neither_store_nor_release() {
    keys().claim(claim("one"), NOW);
    Instant end = LEASE_END.plusSeconds(60);
    keys().claim(claim("same", "two", end), LEASE_END);

    assertThat(keys().store(claim("one"), ANSWER, TOMORROW)).isEqualTo(WriteResult.CONFLICT);
    keys().release(claim("one"));
    assertThat(keys().claim(claim("three"), LEASE_END)).isEqualTo(new KeyUse.InProgress(end));
  }

  @Test
  void stored_response_is_not_released() {
    keys().claim(claim("one"), NOW);
    keys().store(claim("one"), ANSWER, TOMORROW);
    keys().release(claim("one"));

    assertThat(keys().claim(claim("two"), NOW)).isEqualTo(new KeyUse.Completed(ANSWER));
  }

  @Test
  void one_of_many_concurrent_claims_gets_the_key() {
    List<KeyUse> uses = Race.of(8, i -> keys().claim(claim("owner-" + i), NOW));

    assertThat(uses).filteredOn(use -> use instanceof KeyUse.Claimed).hasSize(1);
    assertThat(uses).filteredOn(use -> use instanceof KeyUse.InProgress).hasSize(7);
  }

  @Test
  void one_of_many_concurrent_claims_gets_an_expired_key() {
    keys().claim(claim("dead"), NOW);
    Instant end = LEASE_END.plusSeconds(60);

    List<KeyUse> uses = Race.of(8, i -> keys().claim(claim("same", "owner-" + i, end), LEASE_END));

    assertThat(uses).filteredOn(use -> use instanceof KeyUse.Claimed).hasSize(1);
  }
}
