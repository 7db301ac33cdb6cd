package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.testing.InMemoryTokenQueue;
import dev.tollgate.core.testing.Town;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TokenClaimsTest {
  private final Town town = new Town();
  private final Tenant acme = town.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
  private final BucketId bucket = Town.connects(acme);
  private final TokenClaims claims =
      new TokenClaims(town.buckets(), town.queue(), town.wakeUp(), town.clock());

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
    assertThat(retryAt).isBeforeOrEqualTo(Town.START.plusSeconds(60 + n));
  }

  /** Random rates, instants and numbers; the fills come late, but always as late. */
  @Test
  void whoever_waits_alone_as_told_is_granted_whatever_the_rate_and_no_later_than_need_be() {
    for (long seed = 1; seed <= 300; seed++) {
      Random random = new Random(seed);
      Town lonely = new Town();
      Tenant tenant = lonely.onboard("acme", "gold", Map.of(Limit.TENANT_PER_MINUTE, 60L));
      BucketId id = Town.connects(tenant);
      TokenClaims mine =
          new TokenClaims(lonely.buckets(), lonely.queue(), lonely.wakeUp(), lonely.clock());
      Rate rate =
          Rate.perMinute(BigDecimal.valueOf(1 + random.nextInt(3_000), 1 + random.nextInt(2)));
      long capacity = Math.max(1, rate.ceiling());
      Bucket row = lonely.buckets().find(id).orElseThrow();
      lonely
          .buckets()
          .replace(row.retuned(new BucketSpec(rate, capacity), lonely.clock().instant()));
      Duration lag = Duration.ofSeconds(random.nextInt(5));
      Instant tick = Town.START.plusSeconds(60);
      for (int minute = 0; minute < 3; minute++, tick = tick.plusSeconds(60)) {
        lonely.clock().set(tick.plus(lag));
        lonely.fill().fill(id, tick);
      }
      lonely.clock().advance(Duration.ofMillis(random.nextInt(60_000 - 5_000)));
      mine.claimUpTo(tenant.id(), Action.CONNECT, 10_000);
      Instant asked = lonely.clock().instant();
      int n = 1 + random.nextInt(Math.toIntExact(capacity));

      Instant retryAt = ((Claim.Denied) mine.tryClaim(tenant.id(), Action.CONNECT, n)).retryAt();

      for (; !tick.plus(lag).isAfter(retryAt); tick = tick.plusSeconds(60)) {
        lonely.clock().set(tick.plus(lag));
        lonely.fill().fill(id, tick);
      }
      lonely.clock().set(retryAt);
      assertThat(mine.tryClaim(tenant.id(), Action.CONNECT, n))
          .as("seed %d: %d of %s a minute, told to come at %s", seed, n, rate, retryAt)
          .isInstanceOf(Claim.Granted.class);
      double minutes = n / rate.tokensPerMinute().doubleValue() + 2;
      assertThat(retryAt)
          .as("seed %d: %d of %s a minute", seed, n, rate)
          .isBefore(asked.plusMillis((long) (minutes * 60_000) + 10_000));
    }
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

  @Test
  void a_queue_that_does_not_say_whether_tokens_are_spent_leaves_it_undecided() {
    town.queue().outage().begin("settle");
    assertThat(claim(1)).isEqualTo(new Claim.Undecided("settle: out of order"));
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

  // Up to n.

  private TokenClaims.Spent upTo(int n) {
    return claims.claimUpTo(acme.id(), Action.CONNECT, n);
  }

  private Instant retryAt(TokenClaims.Spent spent) {
    return ((Claim.Denied) spent.shortfall().orElseThrow()).retryAt();
  }

  @Test
  void a_claim_of_up_to_n_spends_n_in_requests_of_ten() {
    long asked = town.queue().reserves();

    assertThat(upTo(25)).isEqualTo(new TokenClaims.Spent(25, Optional.empty()));

    assertThat(town.queue().level(bucket)).isEqualTo(35);
    assertThat(town.queue().reserves() - asked).isEqualTo(3);
  }

  @Test
  void a_claim_of_up_to_n_spends_what_there_is_and_tells_when_the_rest_will_have_come() {
    claim(55);

    TokenClaims.Spent spent = upTo(8);

    assertThat(spent.tokens()).isEqualTo(5);
    assertThat(retryAt(spent))
        .isEqualTo(town.buckets().find(bucket).orElseThrow().nextTokensAt(Town.START, 3));
    assertThat(town.queue().level(bucket)).isZero();
  }

  @Test
  void a_bucket_that_a_claim_of_up_to_n_found_empty_is_not_asked_again() {
    claim(55);
    upTo(8);
    long asked = town.queue().reserves();

    TokenClaims.Spent spent = upTo(1);

    assertThat(spent.tokens()).isZero();
    assertThat(retryAt(spent)).isEqualTo(Town.START.plusSeconds(61));
    assertThat(claim(1)).isInstanceOf(Claim.Denied.class);
    assertThat(town.queue().reserves()).isEqualTo(asked);
  }

  @Test
  void a_claim_of_up_to_n_that_falsely_finds_nothing_once_asks_again() {
    town.queue().seemEmptyOnce();
    assertThat(upTo(10).tokens()).isEqualTo(10);
  }

  @Test
  void an_emptiness_that_cannot_be_remembered_is_found_out_again() {
    claim(55);
    town.buckets().outage().begin("rememberEmpty");

    assertThat(upTo(8).tokens()).isEqualTo(5);
    assertThat(upTo(8).shortfall().orElseThrow()).isInstanceOf(Claim.Denied.class);
  }

  @Test
  void tokens_that_cannot_be_spent_count_as_not_spent() {
    town.queue().outage().begin("settle");
    assertThat(upTo(3).tokens()).isZero();
    assertThat(upTo(3).shortfall().orElseThrow()).isInstanceOf(Claim.Undecided.class);
  }

  @Test
  void what_is_held_when_the_queue_stops_answering_is_spent() {
    TokenQueue failing = new AnsweringOnce(town.queue());

    TokenClaims.Spent spent =
        new TokenClaims(town.buckets(), failing, town.wakeUp(), town.clock())
            .claimUpTo(acme.id(), Action.CONNECT, 25);

    assertThat(spent.tokens()).isEqualTo(10);
    assertThat(spent.shortfall().orElseThrow()).isInstanceOf(Claim.Undecided.class);
    assertThat(town.queue().level(bucket)).isEqualTo(50);
  }

  @Test
  void rows_that_cannot_be_read_leave_a_claim_of_up_to_n_undecided() {
    town.buckets().outage().begin();
    assertThat(upTo(1).shortfall().orElseThrow()).isInstanceOf(Claim.Undecided.class);
  }

  @Test
  void tokens_that_were_spent_in_vain_are_put_back() {
    claim(60);

    claims.putBack(bucket, 12);

    assertThat(town.queue().available(bucket)).isEqualTo(12);
    town.queue().outage().begin();
    claims.putBack(bucket, 1);
    town.queue().outage().end();
    assertThat(town.queue().available(bucket)).isEqualTo(12);
  }

  /** A queue that answers the first receive and no other. */
  private record AnsweringOnce(InMemoryTokenQueue queue) implements TokenQueue {
    @Override
    public List<Lease> reserve(BucketId id, int most, Duration lease) {
      if (queue.reserves() > 0) {
        throw new Unavailable("receive: out of order");
      }
      return queue.reserve(id, most, lease);
    }

    @Override
    public List<Lease> settle(BucketId id, List<Lease> leases) {
      return queue.settle(id, leases);
    }

    @Override
    public List<Lease> giveBack(BucketId id, List<Lease> leases) {
      return queue.giveBack(id, leases);
    }

    @Override
    public List<Token> put(BucketId id, List<Token> tokens) {
      return queue.put(id, tokens);
    }

    @Override
    public Level look(BucketId id) {
      return queue.look(id);
    }
  }
}
