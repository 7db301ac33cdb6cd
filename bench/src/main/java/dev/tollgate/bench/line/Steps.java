package dev.tollgate.bench.line;

import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.AwsRequests;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Counts the AWS requests of each step of a client in line, while nobody else does anything. */
final class Steps {
  /** The tokens at the start, and those of a minute: no token appears during a few steps. */
  private static final int CAPACITY = 4;

  /** Longer than the slowest request that a function makes after its answer. */
  private static final Duration QUIET = Duration.ofSeconds(1);

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "limits": {"tenantPerMinute": 4, "sessionPerMinute": 60000, "connectionsPerSession": 1000,
                  "tenantConnections": 10000, "sessionTTL": 3600, "messagesPerMinute": 60}}""";

  private final Deployment deployment;
  private final Stopwatch stopwatch;
  private final AwsRequests requests;
  private final List<Row> rows = new ArrayList<>();
  private final List<Handshake> answers = new ArrayList<>();

  Steps(Deployment deployment, Stopwatch stopwatch, AwsRequests requests) {
    this.deployment = deployment;
    this.stopwatch = stopwatch;
    this.requests = requests;
  }

  /** Counts. */
  List<Row> count() throws InterruptedException {
    Tenant tenant = deployment.tenant("steps", deployment.tier("steps", TIER));
    List<Session> sessions = tenant.newSessions(CAPACITY + 2);
    try {
      for (Session session : sessions.subList(0, CAPACITY - 1)) {
        answers.add(session.connect());
      }
      step("admission while nobody waits", sessions.get(CAPACITY - 1), "5");
      Session first = sessions.get(CAPACITY);
      step("refusal, first in line", first, "6 to 8");
      Session second = sessions.get(CAPACITY + 1);
      step("refusal with a new place", second, "4, or 5");
      step("refusal with a place", second, "1, or 2");
      stopwatch.sleep(first.advice().retryAfter());
      stopwatch.sleep(second.advice().retryAfter());
      step("admission at the slot", second, "5");
      return List.copyOf(rows);
    } finally {
      for (Handshake answer : answers) {
        answer.close();
      }
    }
  }

  private void step(String name, Session session, String wanted) throws InterruptedException {
    stopwatch.sleep(QUIET);
    var unused = requests.next(AwsRequests.HANDSHAKE);
    Handshake answer = session.connect();
    stopwatch.sleep(QUIET);
    answers.add(answer);
    rows.add(
        new Row(
            "AWS requests: " + name,
            answer.word() + ", " + AwsRequests.summary(requests.next(AwsRequests.HANDSHAKE)),
            wanted));
  }
}
