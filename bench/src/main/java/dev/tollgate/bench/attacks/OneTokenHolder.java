package dev.tollgate.bench.attacks;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.client.Handshake;
import dev.tollgate.bench.client.Issuer;
import dev.tollgate.bench.client.Session;
import dev.tollgate.bench.client.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * On a deployment whose sessions require tokens, one holder of a bronze tenant's token creates as
 * many sessions as possible in 15 s and opens two sockets in each. Then another user of the tenant
 * tries to connect.
 */
final class OneTokenHolder implements Measurement {
  private static final Duration SPAN = Duration.ofSeconds(15);
  private static final int SOCKETS = 2;

  /** Stops the attack, because every further attempt would be refused. */
  private static final int REFUSED_HANDSHAKES = 20;

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(3);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    Issuer issuer = deployment.issuer();
    Tenant tenant = deployment.tenant("token", "bronze");
    String token = issuer.token(tenant.id(), "attacker", stopwatch.now());
    List<Handshake> answers = new ArrayList<>();
    Duration start = stopwatch.elapsed();
    int sessions = 0;
    int refusedSessions = 0;
    Duration lastOpened = Duration.ZERO;
    while (stopwatch.elapsed().minus(start).compareTo(SPAN) < 0) {
      Optional<Session> session = tenant.tryNewSession(token);
      if (session.isEmpty()) {
        refusedSessions++;
        stopwatch.sleep(Duration.ofMillis(100));
        continue;
      }
      sessions++;
      for (int i = 0; i < SOCKETS && refused(answers) < REFUSED_HANDSHAKES; i++) {
        Handshake answer = session.get().connect();
        answers.add(answer);
        if (answer instanceof Handshake.Admitted) {
          lastOpened = stopwatch.elapsed().minus(start);
        }
      }
    }
    String other = other(tenant, issuer.token(tenant.id(), "somebody", stopwatch.now()));
    for (Handshake answer : answers) {
      answer.close();
    }
    return List.of(
        new Row(
            "one token of a bronze tenant (10 connections), 15 s",
            "5 sessions with 2 sockets each in 1.3 s, all that the tenant may have; 701 sessions in"
                + " 12.5 s",
            ("%d sessions, %d refused; %d sockets within %s s; then another user of the tenant gets"
                    + " %s")
                .formatted(
                    sessions,
                    refusedSessions,
                    answers.size() - refused(answers),
                    Times.seconds(lastOpened),
                    other),
            "a share of sessions and sockets; another user is admitted"));
  }

  private static String other(Tenant tenant, String token) throws InterruptedException {
    Optional<Session> session = tenant.tryNewSession(token);
    if (session.isEmpty()) {
      return "no session";
    }
    Handshake answer = session.get().connect();
    answer.close();
    return "a session, and for a socket: " + answer.word();
  }

  private static int refused(List<Handshake> answers) {
    return (int) answers.stream().filter(answer -> !(answer instanceof Handshake.Admitted)).count();
  }
}
