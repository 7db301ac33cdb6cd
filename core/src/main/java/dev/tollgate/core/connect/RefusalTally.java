package dev.tollgate.core.connect;

import dev.tollgate.core.RecentlyUsedMap;
import dev.tollgate.core.TenantId;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Adds up the refusals of a process, so that frequent refusals of a tenant cost few writes. A
 * connection that an observed limit would have refused counts like a refusal here.
 *
 * <p>A storm of a tenant begins with a refusal and ends when none comes for five seconds. These
 * refusals are written at once, together with those before them that are not written yet:
 *
 * <ul>
 *   <li>the first one of a storm;
 *   <li>one after which more of the storm would be unwritten than are written. So at any time at
 *       least half of a storm is written, by at most log2(n + 1) such writes for n refusals;
 *   <li>one five seconds or more after the last write;
 *   <li>one because the tenant or the session has too many connections, at most one in five seconds
 *       for each of the two limits, because the housekeeper depends on it.
 * </ul>
 *
 * <p>What a storm leaves unwritten is written by the next request of any tenant in this process
 * after the storm's end, one storm by each request, and what a minute leaves unwritten by the
 * tenant's first refusal in the next minute: a write never mixes minutes and says when its last
 * refusal was, so that a late one counts in its own minute.
 *
 * <p>The tally is approximate. It loses the unwritten refusals of a process that is not invoked
 * again, or that refuses 10,000 other tenants within the storm, and those of a failed write, which
 * may have been done. So the total is sometimes too low and never too high.
 *
 * <p>Count only handshakes of existing sessions, because each may cause a write, and tenant and
 * session ids can be invented.
 */
public final class RefusalTally {
  /** The time between two writes for one tenant, and after which a storm has ended. */
  static final Duration APART = Duration.ofSeconds(5);

  /** The most tenants with storms. */
  static final int MAX_TENANTS = 10_000;

  /** The most that a request waits for a write. */
  private static final Duration WRITE_TIMEOUT = Duration.ofMillis(500);

  private final Activity activity;
  private final Executor executor;
  private final InstantSource clock;

  /** The storms; those whose last refusal is longest ago come first. */
  private final Map<TenantId, Storm> storms = new RecentlyUsedMap<>(MAX_TENANTS);

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
    write(
        tenant,
        due(tenant, RefusalCounts.of(why, clock.instant())),
        () -> {
          besides.run();
          return true;
        });
  }

  /** Counts an admitted connection that an observed limit would have refused. */
  void countObserved(TenantId tenant, Refusal why) {
    write(tenant, due(tenant, RefusalCounts.ofObserved(why, clock.instant())), () -> true);
  }

  /** Serves a request, and meanwhile writes what one storm that has ended left unwritten. */
  <T> T writeRestDuring(Supplier<T> request) {
    Optional<Map.Entry<TenantId, RefusalCounts>> left = takeEnded();
    return left.isEmpty()
        ? request.get()
        : write(left.get().getKey(), List.of(left.get().getValue()), request);
  }

  private <T> T write(TenantId tenant, List<RefusalCounts> due, Supplier<T> besides) {
    List<CompletableFuture<Void>> writing =
        due.stream()
            .map(
                counts ->
                    CompletableFuture.runAsync(() -> activity.addRefused(tenant, counts), executor))
            .toList();
    T served = besides.get();
    await(CompletableFuture.allOf(writing.toArray(CompletableFuture<?>[]::new)));
    return served;
  }

  /** The refusals to write now: those of an earlier minute, then those that are due. */
  private List<RefusalCounts> due(TenantId tenant, RefusalCounts one) {
    Instant now = one.lastAt();
    List<RefusalCounts> due = new ArrayList<>();
    synchronized (storms) {
      Storm storm = storms.getOrDefault(tenant, Storm.NONE);
      boolean hasEnded = storm.hasEndedAt(now);
      if (storm.unwritten().filter(left -> !left.isOfSameMinute(one)).isPresent()) {
        due.add(storm.unwritten().get().late());
        storm = storm.written(storm.unwritten().get(), now);
      }
      RefusalCounts all = storm.unwritten().map(earlier -> earlier.and(one)).orElse(one);
      boolean isDue = hasEnded || storm.isDue(all, one);
      if (isDue) {
        due.add(all);
      }
      Storm before = hasEnded ? Storm.NONE : storm;
      storms.put(tenant, isDue ? before.written(hasEnded ? one : all, now) : before.with(all));
    }
    return due;
  }

  /** Forgets the storms that have ended, up to the first one with unwritten refusals. */
  private Optional<Map.Entry<TenantId, RefusalCounts>> takeEnded() {
    Instant now = clock.instant();
    synchronized (storms) {
      Iterator<Map.Entry<TenantId, Storm>> eldest = storms.entrySet().iterator();
      while (eldest.hasNext()) {
        Map.Entry<TenantId, Storm> storm = eldest.next();
        if (!storm.getValue().hasEndedAt(now)) {
          return Optional.empty();
        }
        eldest.remove();
        if (storm.getValue().unwritten().isPresent()) {
          return storm.getValue().unwritten().map(left -> Map.entry(storm.getKey(), left.late()));
        }
      }
      return Optional.empty();
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
   * A tenant's refusals in quick succession.
   *
   * @param unwritten those that are not written
   * @param written how many are written
   * @param lastAt the last refusal
   * @param writtenAt the last write
   * @param tenantFullAt the last write of a refusal for {@code tenantConnections}
   * @param sessionFullAt the last write of a refusal for {@code connectionsPerSession}
   */
  private record Storm(
      Optional<RefusalCounts> unwritten,
      long written,
      Instant lastAt,
      Instant writtenAt,
      Instant tenantFullAt,
      Instant sessionFullAt) {
    private static final Storm NONE =
        new Storm(Optional.empty(), 0, Instant.MIN, Instant.MIN, Instant.MIN, Instant.MIN);

    /** Also if the clock was ahead at the last refusal. */
    boolean hasEndedAt(Instant now) {
      return isApart(lastAt, now) || lastAt.isAfter(now.plus(APART));
    }

    /** Whether unwritten refusals, of which {@code one} is the last, must be written. */
    boolean isDue(RefusalCounts all, RefusalCounts one) {
      Instant now = one.lastAt();
      return all.count() > written
          || isApart(writtenAt, now)
          || (one.tenantFullAt().isPresent() && isApart(tenantFullAt, now))
          || (one.sessionFullAt().isPresent() && isApart(sessionFullAt, now));
    }

    Storm with(RefusalCounts all) {
      return new Storm(
          Optional.of(all), written, all.lastAt(), writtenAt, tenantFullAt, sessionFullAt);
    }

    Storm written(RefusalCounts all, Instant now) {
      return new Storm(
          Optional.empty(),
          written + all.count(),
          all.lastAt(),
          now,
          all.tenantFullAt().orElse(tenantFullAt),
          all.sessionFullAt().orElse(sessionFullAt));
    }

    private static boolean isApart(Instant earlier, Instant now) {
      return !earlier.isAfter(now.minus(APART));
    }
  }
}
