package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
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
 * <p>A refusal because the tenant or the session has too many connections does not wait for that:
 * the housekeeper goes by it. Of each of the two, one is written at once in five seconds.
 *
 * <p>It is a tally and no ledger. Lost are: what came within five seconds of the last write, if the
 * process gets no refusal of that tenant any more; what has not been written for a tenant that
 * 10,000 others were refused after; and what a write held that failed, since it may have been done:
 * rather a few too few than too many.
 *
 * <p>Only handshakes of sessions that a tenant has belong in here, since each can cause a write:
 * strangers make up tenants and sessions.
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

  /**
   * Counts a refusal of a tenant while something else is done for it. That it cannot be written
   * stops nobody.
   *
   * @param besides is done in any case; what it throws is thrown
   */
  void count(TenantId tenant, Refusal why, Runnable besides) {
    Optional<Refusals> due = due(tenant, why);
    if (due.isEmpty()) {
      besides.run();
      return;
    }
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> activity.addRefused(tenant, due.get()), executor);
    besides.run();
    await(writing);
  }

  /** What is to be written now, this one among it; empty if it is not yet time. */
  private Optional<Refusals> due(TenantId tenant, Refusal why) {
    Instant now = clock.instant();
    Refusals one = Refusals.of(why, now);
    synchronized (unwritten) {
      Unwritten before = unwritten.getOrDefault(tenant, Unwritten.NOTHING);
      Refusals all = before.refusals().map(earlier -> earlier.and(one)).orElse(one);
      boolean isDue = before.isDue(one, now);
      unwritten.put(tenant, isDue ? before.written(all, now) : before.with(all));
      return isDue ? Optional.of(all) : Optional.empty();
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
   * What is not written of a tenant's refusals, and what was written last.
   *
   * @param refusals what is not written
   * @param writtenAt when anything was
   * @param tenantFullAt when it was written that the tenant was full
   * @param sessionFullAt when it was written that a session was full
   */
  private record Unwritten(
      Optional<Refusals> refusals, Instant writtenAt, Instant tenantFullAt, Instant sessionFullAt) {
    private static final Unwritten NOTHING =
        new Unwritten(Optional.empty(), Instant.MIN, Instant.MIN, Instant.MIN);

    boolean isDue(Refusals one, Instant now) {
      Instant recently = now.minus(APART);
      return !writtenAt.isAfter(recently)
          || (one.tenantFullAt().isPresent() && !tenantFullAt.isAfter(recently))
          || (one.sessionFullAt().isPresent() && !sessionFullAt.isAfter(recently));
    }

    Unwritten with(Refusals all) {
      return new Unwritten(Optional.of(all), writtenAt, tenantFullAt, sessionFullAt);
    }

    Unwritten written(Refusals all, Instant now) {
      return new Unwritten(
          Optional.empty(),
          now,
          all.tenantFullAt().orElse(tenantFullAt),
          all.sessionFullAt().orElse(sessionFullAt));
    }
  }
}
