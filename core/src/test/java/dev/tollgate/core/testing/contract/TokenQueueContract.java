package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.testing.Race;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link TokenQueue}. */
public abstract class TokenQueueContract {
  private static final Duration LEASE = Duration.ofSeconds(30);

  /** The queue under test; its delays and leases follow {@link #clock}. */
  protected abstract TokenQueue queue();

  /** The clock of delays and leases. */
  protected abstract InstantSource clock();

  /** Moves the clock. */
  protected abstract void advance(Duration by);

  /** A bucket with an empty queue. */
  protected abstract BucketId bucket();

  /** A bucket without a queue. */
  protected abstract BucketId bucketWithoutQueue();

  private List<Token> tokens(BucketId bucket, int count, int delaySeconds) {
    Instant now = clock().instant();
    return IntStream.range(0, count)
        .mapToObj(
            i ->
                new Token(UUID.randomUUID().toString(), bucket, now, now.plusSeconds(delaySeconds)))
        .toList();
  }

  private void fill(BucketId bucket, int count, int delaySeconds) {
    assertThat(queue().put(bucket, tokens(bucket, count, delaySeconds))).isEmpty();
  }

  private List<Lease> reserveAll(BucketId bucket) {
    List<Lease> leases = new ArrayList<>();
    List<Lease> more = queue().reserve(bucket, TokenQueue.BATCH, LEASE, Search.LONG);
    while (!more.isEmpty()) {
      leases.addAll(more);
      more = queue().reserve(bucket, TokenQueue.BATCH, LEASE, Search.LONG);
    }
    return leases;
  }

  @Test
  void reserve_of_an_empty_bucket_holds_nothing() {
    assertThat(queue().reserve(bucket(), 1, LEASE, Search.LONG)).isEmpty();
  }

  @Test
  void reserve_holds_at_most_the_requested_number() {
    BucketId bucket = bucket();
    fill(bucket, 3, 0);

    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);
    assertThat(reserveAll(bucket)).hasSize(2);
  }

  @Test
  void reserve_of_zero_or_more_than_a_batch_is_rejected() {
    BucketId bucket = bucket();

    assertThatThrownBy(() -> queue().reserve(bucket, TokenQueue.BATCH + 1, LEASE, Search.LONG))
        .isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> queue().reserve(bucket, 0, LEASE, Search.LONG))
        .isInstanceOf(InvalidValue.class);
  }

  @Test
  void lease_ends_at_most_its_length_after_the_request() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);
    Instant before = clock().instant();

    Lease lease = queue().reserve(bucket, 1, LEASE, Search.LONG).get(0);

    assertThat(lease.endsAt()).isBetween(before.plus(LEASE), clock().instant().plus(LEASE));
  }

  @Test
  void lease_tells_when_its_token_was_minted() {
    BucketId bucket = bucket();
    Instant minted = clock().instant();
    queue().put(bucket, List.of(new Token("token", bucket, minted, minted)));
    advance(Duration.ofSeconds(5));
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG))
        .extracting(Lease::mintedAt)
        .containsExactly(minted);
  }

  @Test
  void held_token_is_unavailable_to_others_until_its_lease_ends() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);
    Lease first = queue().reserve(bucket, 1, LEASE, Search.LONG).get(0);
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).isEmpty();

    advance(LEASE.plusSeconds(1));

    List<Lease> again = queue().reserve(bucket, 1, LEASE, Search.LONG);
    assertThat(again).hasSize(1);
    assertThat(again.get(0).receipt()).isNotEqualTo(first.receipt());
  }

  @Test
  void settled_token_is_gone() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);

    assertThat(queue().settle(bucket, queue().reserve(bucket, 1, LEASE, Search.LONG))).isEmpty();

    assertThat(queue().level(bucket)).isZero();
    advance(LEASE.plusSeconds(1));
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).isEmpty();
  }

  @Test
  void settle_after_the_lease_has_ended_spends_nothing() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);
    List<Lease> ended = queue().reserve(bucket, 1, LEASE, Search.LONG);
    advance(LEASE.plusSeconds(1));

    assertThat(queue().settle(bucket, ended)).isEqualTo(ended);

    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);
  }

  @Test
  void settle_with_the_receipt_of_an_earlier_holder_spends_nothing() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);
    List<Lease> ended = queue().reserve(bucket, 1, LEASE, Search.LONG);
    advance(LEASE.plusSeconds(1));
    List<Lease> held = queue().reserve(bucket, 1, LEASE, Search.LONG);

    assertThat(queue().settle(bucket, ended)).isEqualTo(ended);
    assertThat(queue().countTokens(bucket)).isEqualTo(new TokenQueue.Level(0, 0, 1));
    assertThat(queue().settle(bucket, held)).isEmpty();
    assertThat(queue().level(bucket)).isZero();
  }

  @Test
  void returned_token_is_available_at_once() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);

    assertThat(queue().giveBack(bucket, queue().reserve(bucket, 1, LEASE, Search.LONG))).isEmpty();

    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);
  }

  @Test
  void give_back_after_the_lease_has_ended_does_not_free_the_next_holders_token() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);
    List<Lease> ended = queue().reserve(bucket, 1, LEASE, Search.LONG);
    advance(LEASE.plusSeconds(1));
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);

    assertThat(queue().giveBack(bucket, ended)).isEqualTo(ended);

    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).isEmpty();
  }

  @Test
  void delayed_token_appears_when_its_delay_is_over() {
    BucketId bucket = bucket();
    fill(bucket, 1, 20);
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).isEmpty();

    advance(Duration.ofSeconds(21));

    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);
  }

  @Test
  void level_counts_available_delayed_and_held_tokens() {
    BucketId bucket = bucket();
    fill(bucket, 2, 0);
    fill(bucket, 3, 600);
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);

    assertThat(queue().countTokens(bucket)).isEqualTo(new TokenQueue.Level(1, 3, 1));
    assertThat(queue().level(bucket)).isEqualTo(5);
  }

  @Test
  void short_search_holds_available_tokens() {
    BucketId bucket = bucket();
    fill(bucket, 3, 0);

    assertThat(queue().reserve(bucket, 2, LEASE, Search.SHORT)).hasSize(2);
  }

  @Test
  void token_that_is_already_due_is_available_at_once() {
    BucketId bucket = bucket();
    fill(bucket, 1, -5);

    assertThat(queue().reserve(bucket, 1, LEASE, Search.SHORT)).hasSize(1);
  }

  @Test
  void token_never_appears_before_it_is_due() {
    BucketId bucket = bucket();
    Instant now = clock().instant();
    Token token = new Token(UUID.randomUUID().toString(), bucket, now, now.plusMillis(19_001));
    assertThat(queue().put(bucket, List.of(token))).isEmpty();

    advance(Duration.ofMillis(18_900));
    assertThat(queue().reserve(bucket, 1, LEASE, Search.SHORT)).isEmpty();
    advance(Duration.ofMillis(1_200));
    assertThat(queue().reserve(bucket, 1, LEASE, Search.LONG)).hasSize(1);
  }

  @Test
  void put_settle_and_give_back_accept_any_number() {
    BucketId bucket = bucket();
    fill(bucket, 47, 0);
    assertThat(queue().level(bucket)).isEqualTo(47);

    List<Lease> leases = reserveAll(bucket);
    assertThat(leases).hasSize(47);
    assertThat(queue().giveBack(bucket, leases.subList(0, 24))).isEmpty();
    assertThat(queue().settle(bucket, leases.subList(24, 47))).isEmpty();

    assertThat(queue().level(bucket)).isEqualTo(24);
    assertThat(reserveAll(bucket)).hasSize(24);
  }

  @Test
  void empty_list_of_tokens_does_nothing() {
    BucketId bucket = bucket();

    assertThat(queue().put(bucket, List.of())).isEmpty();
    assertThat(queue().settle(bucket, List.of())).isEmpty();
    assertThat(queue().giveBack(bucket, List.of())).isEmpty();
  }

  @Test
  void tokens_of_two_buckets_are_separate() {
    BucketId bucket = bucket();
    fill(bucket, 1, 0);

    assertThat(queue().reserve(bucket(), 1, LEASE, Search.LONG)).isEmpty();
  }

  @Test
  void concurrent_claimants_get_different_tokens() {
    BucketId bucket = bucket();
    fill(bucket, 8, 0);

    List<List<Lease>> claims = Race.of(16, i -> queue().reserve(bucket, 1, LEASE, Search.LONG));

    assertThat(claims.stream().flatMap(List::stream).map(Lease::receipt).distinct()).hasSize(8);
  }

  @Test
  void missing_queue_is_reported() {
    BucketId bucket = bucketWithoutQueue();

    assertThatThrownBy(() -> queue().reserve(bucket, 1, LEASE, Search.LONG))
        .isInstanceOf(MissingQueue.class);
    assertThatThrownBy(() -> queue().level(bucket)).isInstanceOf(MissingQueue.class);
    assertThatThrownBy(() -> queue().put(bucket, tokens(bucket, 1, 0)))
        .isInstanceOf(MissingQueue.class);
  }
}
