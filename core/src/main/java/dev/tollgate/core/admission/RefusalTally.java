package dev.tollgate.core.admission;

import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Adds up the refusals of a process, so that a tenant that is refused again and again costs one
 * write in five seconds. The first refusal is written at once, and so is the next one when the last
 * write lies five seconds back or more, together with those that came in between.
 *
 * <p>It is a tally and no ledger. Lost are: what came within five seconds of the last write, if the
 * process gets no refusal of that tenant any more; what has not been written for a tenant that
 * 10,000 others were refused after; and what a write held that failed, since it may have been done:
 * rather a few too few than too many.
 *
 * <p>Only known tenants belong in here: each can cause a write.
 */
public final class RefusalTally {
  /** How long after a write of a tenant the next one is. */
  static final Duration APART = Duration.ofSeconds(5);

  /** The most tenants that are kept in mind, those refused last. */
  static final int MOST_TENANTS = 10_000;

  /** The longest that a refusal waits for its write, beyond what it waits for anyway. */
  private static final Duration PATIENCE = Duration.ofMillis(500);

  private final Activity activity;
  private final Executor executor;
  private final InstantSource clock;
  private final Map<TenantId, Unwritten> unwritten =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<TenantId, Unwritten> eldest) {
          return size() > MOST_TENANTS;
        }
      };

  /**
   * A tally that is written to {@code activity}.
   *
   * @param executor runs the writes
   */
  public RefusalTally(Activity activity, Executor executor, InstantSource clock) {
    this.activity = activity;
    this.executor = executor;
    this.clock = clock;
  }

  /** Counts a refusal of a tenant. That it cannot be written stops nobody. */
  void count(TenantId tenant) {
    count(tenant, () -> {});
  }

  /**
   * Counts a refusal of a tenant while something else is done for it.
   *
   * @param besides is done in any case; what it throws is thrown
   */
  void count(TenantId tenant, Runnable besides) {
    long due = due(tenant);
    if (due == 0) {
      besides.run();
      return;
    }
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> activity.addRefused(tenant, due), executor);
    besides.run();
    await(writing);
  }

  /** How many are to be written now, this one among them; none if it is not yet time. */
  private long due(TenantId tenant) {
    Instant now = clock.instant();
    synchronized (unwritten) {
      Unwritten before = unwritten.getOrDefault(tenant, new Unwritten(0, Instant.MIN));
      boolean isDue = !now.isBefore(before.notBefore());
      unwritten.put(
          tenant,
          isDue
              ? new Unwritten(0, now.plus(APART))
              : new Unwritten(before.refusals() + 1, before.notBefore()));
      return isDue ? before.refusals() + 1 : 0;
    }
  }

  private static void await(CompletableFuture<Void> writing) {
    try {
      writing.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException lost) {
      return;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * What is not written of a tenant's refusals.
   *
   * @param notBefore when the next write may be
   */
  private record Unwritten(long refusals, Instant notBefore) {}
}
