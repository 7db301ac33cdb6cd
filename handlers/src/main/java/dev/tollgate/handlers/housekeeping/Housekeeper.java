package dev.tollgate.handlers.housekeeping;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.core.LogText;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.VisitReport;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The function that a schedule invokes every minute, and that invokes itself for further chunks of
 * tenants: ends expired sessions, removes connections whose sockets are closed, and repairs the
 * connection counts.
 */
public final class Housekeeper implements RequestHandler<Map<String, Object>, Map<String, Long>> {
  /** Time that is left for the work in progress: no visit starts later. A recount takes so long. */
  private static final Duration MARGIN = Duration.ofSeconds(15);

  private final Housekeeping housekeeping;
  private final Function<String, SelfInvocation<Chunk>> requests;
  private final Metrics metrics;
  private final InstantSource clock;

  /** The function as Lambda creates it. */
  public Housekeeper() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public Housekeeper(Map<String, String> environment, InstantSource clock) {
    this(Wiring.withOwnRole(environment, clock), clock);
  }

  private Housekeeper(Wiring wiring, InstantSource clock) {
    this(wiring.housekeeping(), wiring::selfInvocation, new Metrics(clock), clock);
  }

  /**
   * The function with its use case.
   *
   * @param requests creates requests to the function, from the ARN by which it was invoked
   */
  Housekeeper(
      Housekeeping housekeeping,
      Function<String, SelfInvocation<Chunk>> requests,
      Metrics metrics,
      InstantSource clock) {
    this.housekeeping = housekeeping;
    this.requests = requests;
    this.metrics = metrics;
    this.clock = clock;
  }

  /**
   * Visits the tenants of a chunk, or divides all tenants into chunks and visits the first.
   *
   * @param event a {@link Chunk}, or the schedule's event
   * @return the totals of all visits, and how many chunks the tenants are divided into
   */
  @Override
  public Map<String, Long> handleRequest(Map<String, Object> event, Context context) {
    LambdaLogger log = context.getLogger();
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    Instant until = clock.instant().plus(time);
    Housekeeping.Report walk =
        Chunk.of(event)
            .map(chunk -> housekeeping.run(chunk, until))
            .orElseGet(
                () -> housekeeping.run(requests.apply(context.getInvokedFunctionArn()), until));
    walk.failedRequests()
        .forEach(
            why -> log.log("chunk not requested, the next run continues: " + LogText.lines(why)));
    walk.visits().forEach(visit -> report(visit, log));
    if (walk.notVisited() != 0) {
      log.log(walk.notVisited() + " tenants not visited for lack of time, the next run continues");
    }
    List<VisitReport> visits = walk.visits();
    return Map.of(
        "chunks", (long) walk.chunks(),
        "failedChunks", (long) walk.failedRequests().size(),
        "visitedTenants", (long) visits.size(),
        "leftTenants", walk.notVisited(),
        "failedVisits", visits.stream().filter(visit -> visit.failure().isPresent()).count(),
        "sessionsEnded", visits.stream().mapToLong(VisitReport::sessionsEnded).sum(),
        "connectionsDropped", visits.stream().mapToLong(VisitReport::connectionsDropped).sum(),
        "drift", visits.stream().mapToLong(VisitReport::drift).sum());
  }

  private void report(VisitReport visit, LambdaLogger log) {
    if (visit.changedSomething()) {
      metrics.repaired(
          log, visit.tenant(), visit.sessionsEnded(), visit.connectionsDropped(), visit.drift());
    }
    visit
        .failure()
        .ifPresent(
            why ->
                log.log(
                    "visit of "
                        + visit.tenant()
                        + " failed, the next run continues: "
                        + LogText.lines(why)));
  }
}
