package dev.tollgate.core.housekeeping;

import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Threads;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.Fanout;
import dev.tollgate.core.fanout.SelfInvocation;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;

/**
 * Visits every tenant that may have sessions, once a minute. A failed visit does not stop the
 * others.
 *
 * <p>Beyond {@value #CHUNK} tenants, a {@link Fanout} divides them among several invocations. Each
 * works in three phases, all of them for many tenants at a time: it visits the tenants, checks
 * doubtful connections at a bounded rate, and recounts the tenants whose counts may have drifted.
 *
 * <p>If time runs out, tenants are left to the next run. The order of ids begins at another place
 * in each minute. The places follow the golden ratio, which spreads any number of them evenly. So
 * if the time suffices for one in n tenants, each tenant is visited at least in each {@code 2 n}
 * runs, and no cursor must be stored.
 */
public final class Housekeeping {
  /** The tenants of an invocation: with drift, it takes about 10 seconds for them. */
  static final int CHUNK = 500;

  /**
   * The checks of connections that all invocations of a minute do together by default. API Gateway
   * answers 10,000 requests a second of all its APIs in the account and Region together.
   *
   * @see <a href="https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html">Amazon
   *     API Gateway quotas</a>
   */
  public static final int CHECKS_A_MINUTE = 30_000;

  /** A part of a second, in which a share of a second's checks may begin. */
  private static final Duration TICK = Duration.ofMillis(100);

  /** The checks that all invocations together begin in a tick: a tenth of API Gateway's quota. */
  private static final int CHECKS_A_TICK = 100;

  /** The time after the last visit in which recounts may observe. */
  private static final Duration RECOUNTING = Duration.ofSeconds(10);

  private static final String TASK = "visits";
  private static final double GOLDEN = 0.618_033_988_749_894_8;

  private final int checksPerMinute;
  private final LiveTenants live;
  private final TenantVisit visit;
  private final Recount recount;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * Housekeeping of live tenants.
   *
   * @param checksPerMinute the checks of connections that all invocations of a minute do together,
   *     1 or more
   * @param executor runs visits, checks and recounts; its threads limit how many run at a time
   */
  public Housekeeping(
      LiveTenants live,
      TenantVisit visit,
      Recount recount,
      int checksPerMinute,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.live = live;
    this.visit = visit;
    this.recount = recount;
    this.checksPerMinute = checksPerMinute;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Visits the live tenants of the first chunk, and requests the visits of the others.
   *
   * @param until no visit starts after this instant, and no recount continues for long after it
   * @throws Unavailable if the live tenants cannot be listed
   */
  public Report run(SelfInvocation<Chunk> requests, Instant until) {
    Fanout.Split split = fanout(requests).split(TASK, live::list, until);
    return visit(split.first(), split.chunks(), split.failures(), until);
  }

  /**
   * Visits the live tenants of a chunk.
   *
   * @param until as in {@link #run(SelfInvocation, Instant)}
   * @throws Unavailable if the live tenants cannot be listed
   */
  public Report run(Chunk chunk, Instant until) {
    List<TenantId> tenants = fanout(refused -> {}).ids(chunk, live::list);
    return visit(tenants, chunk.chunks(), List.of(), until);
  }

  private Fanout fanout(SelfInvocation<Chunk> requests) {
    return new Fanout(requests, CHUNK, executor, clock);
  }

  /** Visits these tenants, checks their doubtful connections, and recounts. */
  Report visit(List<TenantId> tenants, int chunks, List<String> failedRequests, Instant until) {
    CheckBudget checks = new CheckBudget(Math.max(1, checksPerMinute / chunks));
    Map<TenantId, VisitReport> reports = new LinkedHashMap<>();
    Set<TenantId> drifting = new LinkedHashSet<>();
    List<TenantVisit.DoubtfulConnection> doubtful = new ArrayList<>();
    Threads.map(inTurn(tenants), id -> visit(id, checks, until), executor).stream()
        .flatMap(Optional::stream)
        .forEach(
            result -> {
              reports.put(result.report().tenant(), result.report());
              doubtful.addAll(result.doubtful());
              if (result.mayHaveDrifted()) {
                drifting.add(result.report().tenant());
              }
            });
    for (VisitReport checked :
        check(inTurn(doubtful), Math.max(1, CHECKS_A_TICK / chunks), until)) {
      reports.computeIfPresent(checked.tenant(), (id, report) -> report.and(checked));
      if (checked.connectionsDropped() != 0) {
        drifting.add(checked.tenant());
      }
    }
    recount
        .repair(drifting, executor, () -> !clock.instant().minus(RECOUNTING).isBefore(until))
        .forEach(
            (id, repair) ->
                reports.computeIfPresent(
                    id,
                    (same, report) ->
                        report.and(new VisitReport(id, 0, 0, repair.drift(), repair.reason()))));
    return new Report(
        List.copyOf(reports.values()), tenants.size() - reports.size(), chunks, failedRequests);
  }

  /** A list in the order of this minute. */
  private <T> List<T> inTurn(List<T> all) {
    long minute = clock.instant().getEpochSecond() / 60;
    double place = minute * GOLDEN % 1;
    int begin = (int) (place * all.size());
    List<T> ordered = new ArrayList<>(all.subList(begin, all.size()));
    ordered.addAll(all.subList(0, begin));
    return ordered;
  }

  private Optional<TenantVisit.Result> visit(TenantId id, CheckBudget checks, Instant until) {
    if (!clock.instant().isBefore(until)) {
      return Optional.empty();
    }
    try {
      return Optional.of(visit.visit(id, checks, until));
    } catch (RuntimeException broken) {
      VisitReport failed = new VisitReport(id, 0, 0, 0, Optional.of(broken.toString()));
      return Optional.of(new TenantVisit.Result(failed, false, List.of()));
    }
  }

  /** Checks connections, this many in a tick. */
  private List<VisitReport> check(
      List<TenantVisit.DoubtfulConnection> doubtful, int inTick, Instant until) {
    List<VisitReport> reports = new ArrayList<>();
    for (int from = 0; from < doubtful.size(); from += inTick) {
      if (from != 0) {
        pause.of(TICK);
      }
      if (!clock.instant().isBefore(until)) {
        return reports;
      }
      reports.addAll(
          Threads.map(
              doubtful.subList(from, Math.min(from + inTick, doubtful.size())),
              visit::check,
              executor));
    }
    return reports;
  }

  /**
   * The result of a run.
   *
   * @param visits a report for each visited tenant
   * @param notVisited the number of tenants that were skipped for lack of time
   * @param chunks the number of invocations among which the tenants of this minute are divided
   * @param failedRequests why chunks were not requested, one reason for each
   */
  public record Report(
      List<VisitReport> visits, long notVisited, int chunks, List<String> failedRequests) {
    /** Copies the lists. */
    public Report {
      visits = List.copyOf(visits);
      failedRequests = List.copyOf(failedRequests);
    }
  }
}
