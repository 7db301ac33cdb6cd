package dev.tollgate.core.bucket.claim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.fill.BucketFill;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.memory.InMemoryBuckets;
import dev.tollgate.core.testing.memory.InMemoryTokenQueue;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Prefetches for the claims of one thread, and of several threads at the same time. */
final class PrefetchTest {
  private static final BucketId ID = new BucketId(new TenantId("acme"), new Action("send-email"));

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-01T12:00:00Z"));
  private final InMemoryBuckets rows = new InMemoryBuckets();
  private final InMemoryTokenQueue tokens = new InMemoryTokenQueue(clock);
  private final List<Runnable> timers = new ArrayList<>();
  private final Prefetch prefetch = prefetch(10);
  private final Prefetch pairs = prefetch(2);

  PrefetchTest() {
    tokens.createQueue(ID);
    rows.open(
        Bucket.opened(
            ID,
            new BucketSpec(Rate.perMinute(6), 100, new FillPolicy(FillMode.PRODUCER, 0)),
            clock.instant()));
    new BucketFill(rows, tokens, clock).fill(ID);
  }

  private Prefetch prefetch(int size) {
    return new Prefetch(
        tokens, new HeldTokens(rows, tokens, clock), size, (time, work) -> timers.add(work), clock);
  }

  private Bucket row() {
    return rows.find(ID).orElseThrow();
  }

  private boolean take() {
    return prefetch.take(ID, this::row);
  }

  /** Leaves this number of tokens in the queue. */
  private void leave(int count) {
    tokens.delete(ID);
    tokens.createQueue(ID);
    Instant now = clock.instant();
    tokens.put(ID, Collections.nCopies(count, new Token("token", ID, now, now)));
  }

  @Test
  void claims_more_than_two_seconds_apart_prefetch_nothing() {
    for (int i = 0; i < 3; i++) {
      assertThat(take()).isFalse();
      clock.advance(Duration.ofMillis(2_001));
    }
    assertThat(tokens.reserves()).isZero();
  }

  @Test
  void leased_tokens_are_used_after_a_receive_that_returned_too_few() {
    assertThat(take()).isFalse();
    assertThat(take()).isTrue();
    assertThat(take()).isTrue();
    leave(3);

    for (int i = 0; i < 3; i++) {
      assertThat(take()).as("token %d", i).isTrue();
    }

    long receives = tokens.reserves();
    assertThat(take()).isFalse();
    assertThat(tokens.reserves()).isEqualTo(receives);
  }

  @Test
  void leased_tokens_are_returned_if_the_row_allows_no_prefetch() {
    take();
    take();
    assertThat(tokens.inFlight(ID)).isEqualTo(1);

    assertThat(prefetch.take(ID, () -> row().hibernating(clock.instant()))).isFalse();

    assertThat(tokens.inFlight(ID)).isZero();
  }

  @Test
  void other_threads_use_what_one_thread_has_prefetched() throws Exception {
    for (int i = 0; i < 4; i++) {
      take();
    }
    timers.forEach(Runnable::run);
    long receives = tokens.reserves();

    assertThat(new Claimer(prefetch).proceed()).isTrue();

    assertThat(tokens.reserves()).isEqualTo(receives);
  }

  @Test
  void refill_of_two_tokens_serves_one_other_claim() throws Exception {
    pairs.take(ID, this::row);
    Claimer first = new Claimer(pairs).refilling();
    Claimer second = new Claimer(pairs).waiting();
    Claimer third = new Claimer(pairs).refilling();

    assertThat(third.proceed()).isTrue();
    assertThat(second.result()).isTrue();

    Claimer fourth = new Claimer(pairs).waiting();
    assertThat(first.proceed()).isTrue();
    assertThat(fourth.result()).isTrue();
    assertThat(new Claimer(pairs).refilling().proceed()).isTrue();
    assertThat(tokens.level(ID)).isEqualTo(100 - 6);
  }

  @Test
  void refill_that_fails_serves_nobody() throws Exception {
    Prefetch triples = prefetch(3);
    triples.take(ID, this::row);
    Claimer first = new Claimer(triples).refilling();
    Claimer second = new Claimer(triples).waiting();
    leave(0);

    assertThat(first.proceed()).isFalse();
    assertThat(second.result()).isFalse();
  }

  /** A claim on its own thread. A claim that refills the prefetch waits before it reads the row. */
  private final class Claimer {
    private final CountDownLatch reads = new CountDownLatch(1);
    private final CountDownLatch mayRead = new CountDownLatch(1);
    private final FutureTask<Boolean> claim;
    private final Thread thread;

    Claimer(Prefetch shared) {
      claim = new FutureTask<>(() -> shared.take(ID, this::read));
      thread = new Thread(claim);
      thread.setDaemon(true);
      thread.start();
    }

    private Bucket read() {
      reads.countDown();
      try {
        mayRead.await();
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
      return row();
    }

    Claimer refilling() throws InterruptedException {
      assertThat(reads.await(10, TimeUnit.SECONDS)).as("refills").isTrue();
      return this;
    }

    Claimer waiting() {
      while (thread.getState() != Thread.State.WAITING) {
        assertThat(thread.isAlive()).as("waits").isTrue();
        Thread.onSpinWait();
      }
      assertThat(reads.getCount()).as("refills").isEqualTo(1);
      return this;
    }

    boolean result() throws Exception {
      return claim.get(10, TimeUnit.SECONDS);
    }

    boolean proceed() throws Exception {
      mayRead.countDown();
      return result();
    }
  }
}
