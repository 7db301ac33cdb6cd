package dev.tollgate.bench.line;

import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** Runs scenarios at a deployment, each with a tier and a tenant of its own. */
final class Runner {
  /** How much may be under way at once. More clients than that are never refused together. */
  private static final int THREADS = 100;

  private final Deployment deployment;
  private final Stopwatch stopwatch;
  private final PrintWriter progress;

  Runner(Deployment deployment, Stopwatch stopwatch, PrintWriter progress) {
    this.deployment = deployment;
    this.stopwatch = stopwatch;
    this.progress = progress;
  }

  /** Runs a scenario until all clients are admitted or have left, or until its time limit. */
  List<Attempt> run(Scenario scenario) throws InterruptedException {
    Tenant tenant =
        deployment.tenant(scenario.name(), tier(scenario, scenario.name(), Scenario.PER_MINUTE));
    Optional<String> next =
        scenario
            .change()
            .map(change -> tier(scenario, scenario.name() + "-next", change.perMinute()));
    List<Session> sessions = tenant.newSessions(scenario.arrivals().size());
    progress.println(
        "%s: %s, at most %d s ..."
            .formatted(scenario.name(), scenario.title(), scenario.timeout().toSeconds()));
    try (ThreadAgenda agenda = new ThreadAgenda(stopwatch, THREADS);
        SessionGate gate = new SessionGate(sessions, stopwatch.now())) {
      Crowd crowd = new Crowd(scenario, agenda, gate);
      List<RuntimeException> failures = Collections.synchronizedList(new ArrayList<>());
      scenario
          .change()
          .ifPresent(change -> agenda.at(change.at(), () -> move(tenant, next.get(), failures)));
      final boolean complete = crowd.awaitAll(scenario.timeout());
      if (!failures.isEmpty()) {
        throw failures.get(0);
      }
      progress.println(
          "%s: %s after %d s"
              .formatted(scenario.name(), complete ? "done" : "ended", agenda.now().toSeconds()));
      return crowd.attempts();
    }
  }

  private static void move(Tenant tenant, String tier, List<RuntimeException> failures) {
    try {
      tenant.move(tier);
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  private String tier(Scenario scenario, String name, int perMinute) {
    return deployment.tier(
        name,
        """
        {"isolation": "POOL", "hibernateAfterMinutes": 0%s,
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                    "tenantConnections": 10000, "sessionTTL": 3600, "messagesPerMinute": 60}}"""
            .formatted(scenario.hasLine() ? "" : ", \"line\": false", perMinute));
  }
}
