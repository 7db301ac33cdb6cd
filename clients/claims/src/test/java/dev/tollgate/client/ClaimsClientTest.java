package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.tollgate.core.Action;
import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.BucketFill;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Claims and reservations that are disturbed while they settle. */
class ClaimsClientTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));
  private static final int TOKENS = 3_000;

  private static final BucketId DAY = new BucketId(ID.tenant(), new Action("day"));
  private static final List<String> BOTH = List.of("send-email", "day", "day");

  private final AtomicReference<Instant> now = new AtomicReference<>(NOW);
  private final MemoryBuckets buckets = new MemoryBuckets();
  private final BusyQueue queue = new BusyQueue();
  private final AtomicInteger returned = new AtomicInteger();
  private final Claims claims =
      new Claims(buckets, queue, new NoFills(), Runnable::run, Pause.real(), now::get);
  private final ClaimsClient client =
      new ClaimsClient(
          new CachedClaims(
              ClaimsClient.reader(buckets::find),
              claims,
              Optional.empty(),
              Runnable::run,
              now::get),
          claims,
          now::get,
          new ClaimListener() {
            @Override
            public void returned(Call call) {
              returned.incrementAndGet();
            }
          },
          List.of());

  @BeforeEach
  void fill() {
    buckets.put(Bucket.opened(ID, new BucketSpec(Rate.perMinute(60_000), TOKENS), NOW));
    new BucketFill(buckets, queue, now::get).fill(ID);
    buckets.put(Bucket.opened(DAY, new BucketSpec(Rate.perMinute(10), 10), NOW));
    new BucketFill(buckets, queue, now::get).fill(DAY);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private Reservation reserve() {
    ReserveResult answer = client.bucket("acme", "send-email").reserve(1);
    assertThat(answer).isInstanceOf(Reservation.class);
    return (Reservation) answer;
  }

  private static void onAnotherThread(Runnable task) {
    CompletableFuture.runAsync(task, ClaimsClientTest::start).join();
  }

  private static void start(Runnable task) {
    new Thread(task).start();
  }

  @Test
  void reservation_closed_during_spend_is_not_returned() {
    Reservation reservation = reserve();
    queue.duringRequest.set(() -> onAnotherThread(reservation::close));

    assertThat(reservation.spend()).isEqualTo(new Settlement.Spent());

    assertThat(queue.requests).containsExactly("settle");
    assertThat(returned).hasValue(0);
  }

  @Test
  void reservation_spent_or_closed_during_its_return_is_returned_once() {
    Reservation reservation = reserve();
    queue.duringRequest.set(
        () ->
            onAnotherThread(
                () -> {
                  assertThatIllegalStateException().isThrownBy(reservation::spend);
                  reservation.close();
                }));

    reservation.close();

    assertThat(queue.requests).containsExactly("giveBack");
    assertThat(returned).hasValue(1);
  }

  @Test
  void reservation_closed_by_two_threads_is_returned_once() {
    List<Reservation> reservations = Stream.generate(this::reserve).limit(TOKENS).toList();
    AtomicInteger arrived = new AtomicInteger();
    CompletableFuture<Void> other =
        CompletableFuture.runAsync(() -> closeAll(reservations, arrived), ClaimsClientTest::start);
    closeAll(reservations, arrived);
    other.join();

    assertThat(queue.requests).hasSize(TOKENS);
    assertThat(returned).hasValue(TOKENS);
  }

  /**
   * Closes each reservation as soon as both threads have reached it. Spins, so that both close at
   * the same time.
   */
  private static void closeAll(List<Reservation> reservations, AtomicInteger arrived) {
    int expected = 0;
    for (Reservation reservation : reservations) {
      expected += 2;
      arrived.incrementAndGet();
      while (arrived.get() < expected) {
        Thread.onSpinWait();
      }
      reservation.close();
    }
  }

  private long left(BucketId id) {
    return queue.tokens.countTokens(id).visible();
  }

  @Test
  void claim_of_several_buckets_spends_all_if_the_client_is_closed_meanwhile() {
    Thread closing = new Thread(client::close);
    queue.duringRequest.set(
        () -> {
          closing.start();
          while (closing.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
          }
        });

    assertThat(client.tryClaimEach("acme", BOTH, 3)).isEqualTo(new Claim.Granted(3));

    assertThat(left(DAY)).isEqualTo(7);
    assertThat(left(ID)).isEqualTo(TOKENS - 3);
  }

  @Test
  void interrupted_claim_of_several_buckets_puts_back_what_it_spent() {
    queue.duringRequest.set(
        () ->
            queue.duringRequest.set(
                () -> {
                  Thread.currentThread().interrupt();
                  throw new Unavailable("interrupted");
                }));

    assertThat(client.tryClaimEach("acme", BOTH, 3)).isInstanceOf(Claim.Undecided.class);

    assertThat(Thread.interrupted()).isTrue();
    assertThat(left(DAY)).isEqualTo(10);
  }

  @Test
  void claim_of_several_buckets_is_undecided_if_a_lease_ends_while_it_is_spent() {
    queue.duringRequest.set(() -> now.set(NOW.plusSeconds(600)));

    assertThat(client.tryClaimEach("acme", BOTH, 3)).isInstanceOf(Claim.Undecided.class);
  }

  @Test
  void claim_of_several_buckets_returns_all_if_one_cannot_be_spent() {
    queue.duringRequest.set(
        () ->
            queue.duringRequest.set(
                () -> {
                  throw new NoCredentials(new Unavailable("refused"));
                }));

    assertThat(client.tryClaimEach("acme", BOTH, 3)).isInstanceOf(Claim.Denied.class);

    assertThat(left(DAY)).isEqualTo(10);
    assertThat(left(ID)).isEqualTo(TOKENS);
  }

  @Test
  void claim_of_several_buckets_refuses_a_missing_action() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> client.tryClaimEach("acme", Collections.singleton(null), 1))
        .withMessageContaining("action");
  }

  /** Runs an action of the test once during a request to settle or return tokens. */
  private static final class BusyQueue implements TokenQueue {
    private final MemoryTokens tokens = new MemoryTokens(InstantSource.fixed(NOW));
    private final List<String> requests = Collections.synchronizedList(new ArrayList<>());
    private final AtomicReference<Runnable> duringRequest = new AtomicReference<>(() -> {});

    @Override
    public List<Lease> settle(BucketId bucket, List<Lease> leases) {
      requests.add("settle");
      duringRequest.getAndSet(() -> {}).run();
      return tokens.settle(bucket, leases);
    }

    @Override
    public List<Lease> giveBack(BucketId bucket, List<Lease> leases) {
      requests.add("giveBack");
      duringRequest.getAndSet(() -> {}).run();
      return tokens.giveBack(bucket, leases);
    }

    @Override
    public List<Lease> reserve(BucketId bucket, int max, Duration lease, Search search) {
      return tokens.reserve(bucket, max, lease, search);
    }

    @Override
    public List<Token> put(BucketId bucket, List<Token> fresh) {
      if (Thread.currentThread().isInterrupted()) {
        throw new Unavailable("interrupted");
      }
      return tokens.put(bucket, fresh);
    }

    @Override
    public Level countTokens(BucketId bucket) {
      return tokens.countTokens(bucket);
    }
  }

  /** No bucket runs out of tokens in these tests. */
  private static final class NoFills implements FillRequests {
    @Override
    public void send(BucketId id) {}

    @Override
    public void sendAndWait(BucketId id) {}
  }
}
