package dev.tollgate.core.connect;

import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Adds up the refusals of a process, so that frequent refusals of a tenant cost one write in five
 * seconds. The first refusal is written at once. So is every refusal that comes five seconds or
 * more after the last write, together with those in between.
 *
 * <p>A refusal because the tenant or the session has too many connections is written at once,
 * because the housekeeper depends on it: at most one in five seconds for each of the two limits.
 *
 * <p>The tally is approximate. It loses the refusals within five seconds of the last write if no
 * further one follows in this process, the unwritten refusals of a tenant after refusals of 10,000
 * other tenants, and those of a failed write, which may have been done. So the total is sometimes
 * too low and never too high.
 *
 * <p>Count only handshakes of existing sessions, because each may cause a write, and tenant and
 * session ids can be invented.
 */
public final class RefusalTally {
  /** The time between two writes for one tenant. */
  static final Duration APART = Duration.ofSeconds(5);

  /** The most tenants with unwritten refusals. */
  static final int MAX_TENANTS = 10_000;

  /** The most that a refusal waits for its write. */
  private static final Duration WRITE_TIMEOUT = Duration.ofMillis(500);

  private final Activity activity;
  private final Executor executor;
  private final InstantSource clock;
  private final Map<TenantId, Unwritten> unwritten = new RecentlyUsedMap<>(MAX_TENANTS);

  /**
   * A tally that writes to {@code activity}.
   *
   * @param executor runs the writes
   */
  public RefusalTally(Activity activity, Executor executor, InstantSource clock) {
    this.activity = activity;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Counts a refusal of a tenant while {@code besides} runs. A failed write is ignored.
   *
   * @param besides always runs; its exceptions are thrown
   */
  void count(TenantId tenant, Refusal why, Runnable besides) {
    Optional<RefusalCounts> due = due(tenant, why);
    if (due.isEmpty()) {
      besides.run();
      return;
    }
    CompletableFuture<Void> writing =
        CompletableFuture.runAsync(() -> activity.addRefused(tenant, due.get()), executor);
    besides.run();
    await(writing);
  }

  /** The refusals to write now, including this one; empty if it is too early for a write. */
  private Optional<RefusalCounts> due(TenantId tenant, Refusal why) {
    Instant now = clock.instant();
    RefusalCounts one = RefusalCounts.of(why, now);
    synchronized (unwritten) {
      Unwritten before = unwritten.getOrDefault(tenant, Unwritten.NOTHING);
      RefusalCounts all = before.refusals().map(earlier -> earlier.and(one)).orElse(one);
      boolean isDue = before.isDue(one, now);
      unwritten.put(tenant, isDue ? before.written(all, now) : before.with(all));
      return isDue ? Optional.of(all) : Optional.empty();
    }
  }

  private static void await(CompletableFuture<Void> writing) {
    try {
      writing.get(WRITE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException lost) {
      return;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * A tenant's unwritten refusals and its last writes.
   *
   * @param refusals the unwritten refusals
   * @param writtenAt the last write
   * @param tenantFullAt the last write of a refusal for {@code tenantConnections}
   * @param sessionFullAt the last write of a refusal for {@code connectionsPerSession}
   */
  private record Unwritten(
      Optional<RefusalCounts> refusals,
      Instant writtenAt,
      Instant tenantFullAt,
      Instant sessionFullAt) {
    private static final Unwritten NOTHING =
        new Unwritten(Optional.empty(), Instant.MIN, Instant.MIN, Instant.MIN);

    boolean isDue(RefusalCounts one, Instant now) {
      Instant recently = now.minus(APART);
      return !writtenAt.isAfter(recently)
          || (one.tenantFullAt().isPresent() && !tenantFullAt.isAfter(recently))
          || (one.sessionFullAt().isPresent() && !sessionFullAt.isAfter(recently));
    }

    Unwritten with(RefusalCounts all) {
      return new Unwritten(Optional.of(all), writtenAt, tenantFullAt, sessionFullAt);
    }

    Unwritten written(RefusalCounts all, Instant now) {
      return new Unwritten(
          Optional.empty(),
          now,
          all.tenantFullAt().orElse(tenantFullAt),
          all.sessionFullAt().orElse(sessionFullAt));
    }
  }
}
