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
 * Visits every tenant that may have sessions, several at a time and as many as there is time for.
 * The order is another one each time, so that none is always left out; what goes wrong at one does
 * not stop the visits to the others.
 */
public final class Housekeeping {
  private final LiveTenants live;
  private final TenantVisit visit;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * The housekeeping of the tenants that are live.
   *
   * @param executor runs the visits, as many at a time as it has threads
   */
  public Housekeeping(LiveTenants live, TenantVisit visit, Executor executor, InstantSource clock) {
    this.live = live;
    this.visit = visit;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Walks once.
   *
   * @param until no visit is begun then
   * @throws Unavailable if nobody can tell which tenants there are
   */
  public Report run(Instant until) {
    List<TenantId> tenants = new ArrayList<>(live.list());
    Collections.shuffle(tenants);
    List<CompletableFuture<Optional<VisitReport>>> under =
        tenants.stream()
            .map(id -> CompletableFuture.supplyAsync(() -> visit(id, until), executor))
            .toList();
    List<VisitReport> visits =
        under.stream().map(CompletableFuture::join).flatMap(Optional::stream).toList();
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
   * What a walk came to.
   *
   * @param visits what was done for each tenant that was visited
   * @param notVisited how many tenants there was no time for
   */
  public record Report(List<VisitReport> visits, long notVisited) {
    /** Copies the list. */
    public Report {
      visits = List.copyOf(visits);
    }
  }
}
