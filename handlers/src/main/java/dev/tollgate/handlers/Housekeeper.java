package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.core.LogText;
import dev.tollgate.core.housekeeping.Housekeeping;
import dev.tollgate.core.housekeeping.VisitReport;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/**
 * The function that a schedule invokes every minute: ends what is over, drops what is gone, and
 * puts the counts right.
 */
public final class Housekeeper implements RequestHandler<Map<String, Object>, Map<String, Long>> {
  /** Nothing is begun when less than this is left: a recount may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(15);

  private final Housekeeping housekeeping;
  private final Telemetry telemetry;
  private final InstantSource clock;

  /** The function as Lambda makes it. */
  public Housekeeper() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public Housekeeper(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).housekeeping(), new Telemetry(clock), clock);
  }

  Housekeeper(Housekeeping housekeeping, Telemetry telemetry, InstantSource clock) {
    this.housekeeping = housekeeping;
    this.telemetry = telemetry;
    this.clock = clock;
  }

  /**
   * Keeps house once.
   *
   * @param event not used
   * @return what was done, in all
   */
  @Override
  public Map<String, Long> handleRequest(Map<String, Object> event, Context context) {
    LambdaLogger log = context.getLogger();
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    Instant until = clock.instant().plus(time);
    Housekeeping.Report walk = housekeeping.run(until);
    walk.visits().forEach(visit -> report(visit, log));
    List<VisitReport> visits = walk.visits();
    return Map.of(
        "visitedTenants",
        (long) visits.size(),
        "leftTenants",
        walk.notVisited(),
        "failedVisits",
        visits.stream().filter(visit -> visit.failure().isPresent()).count(),
        "sessionsEnded",
        visits.stream().mapToLong(VisitReport::sessionsEnded).sum(),
        "connectionsDropped",
        visits.stream().mapToLong(VisitReport::connectionsDropped).sum(),
        "drift",
        visits.stream().mapToLong(VisitReport::drift).sum());
  }

  private void report(VisitReport visit, LambdaLogger log) {
    if (visit.changedSomething()) {
      telemetry.putRight(
          log, visit.tenant(), visit.sessionsEnded(), visit.connectionsDropped(), visit.drift());
    }
    visit
        .failure()
        .ifPresent(
            why ->
                log.log(
                    "left to the next minute at " + visit.tenant() + ": " + LogText.lines(why)));
  }
}
