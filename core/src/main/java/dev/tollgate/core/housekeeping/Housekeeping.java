package dev.tollgate.core.housekeeping;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Visits every tenant that may have sessions, several at a time, until time runs out. The order is
 * random, so that the same tenants are not skipped each time. A failed visit does not stop the
 * others.
 */
public final class Housekeeping {
  private final LiveTenants live;
  private final TenantVisit visit;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * Housekeeping of live tenants.
   *
   * @param executor runs the visits; its threads limit how many run at a time
   */
  public Housekeeping(LiveTenants live, TenantVisit visit, Executor executor, InstantSource clock) {
    this.live = live;
    this.visit = visit;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Visits all live tenants once.
   *
   * @param until no visit starts after this instant
   * @throws Unavailable if the live tenants cannot be listed
   */
  public Report run(Instant until) {
    List<TenantId> tenants = new ArrayList<>(live.list());
    Collections.shuffle(tenants);
    List<CompletableFuture<Optional<VisitReport>>> running =
        tenants.stream()
            .map(id -> CompletableFuture.supplyAsync(() -> visit(id, until), executor))
            .toList();
    List<VisitReport> visits =
        running.stream().map(CompletableFuture::join).flatMap(Optional::stream).toList();
    return new Report(visits, tenants.size() - visits.size());
  }

  private Optional<VisitReport> visit(TenantId id, Instant until) {
    if (!clock.instant().isBefore(until)) {
      return Optional.empty();
    }
    try {
      return Optional.of(visit.visit(id, until));
    } catch (RuntimeException broken) {
      return Optional.of(new VisitReport(id, 0, 0, 0, Optional.of(broken.toString())));
    }
  }

  /**
   * The result of a run.
   *
   * @param visits a report for each visited tenant
   * @param notVisited the number of tenants that were skipped for lack of time
   */
  public record Report(List<VisitReport> visits, long notVisited) {
    /** Copies the list. */
    public Report {
      visits = List.copyOf(visits);
    }
  }
}
