package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.tollgate.core.Action;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
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

/** Reservations that two threads settle at the same time: only one succeeds. */
class ClaimsClientTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));
  private static final int TOKENS = 3_000;

  private final MemoryBuckets buckets = new MemoryBuckets();
  private final BusyQueue queue = new BusyQueue();
  private final AtomicInteger returned = new AtomicInteger();
  private final Claims claims =
      new Claims(
          buckets, queue, new NoFills(), Runnable::run, Pause.real(), InstantSource.fixed(NOW));
  private final ClaimsClient client =
      new ClaimsClient(
          new CachedClaims(
              ClaimsClient.reader(buckets::find),
              claims,
              Optional.empty(),
              Runnable::run,
              InstantSource.fixed(NOW)),
          claims,
          InstantSource.fixed(NOW),
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
    new BucketFill(buckets, queue, InstantSource.fixed(NOW)).fill(ID);
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
