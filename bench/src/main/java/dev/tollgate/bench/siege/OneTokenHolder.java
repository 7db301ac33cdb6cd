package dev.tollgate.bench.siege;

import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Times;
import dev.tollgate.bench.Watch;
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
 * What one token of a bronze tenant gets in 15 s, on a deployment whose sessions take tokens: as
 * many sessions as it can create, with two sockets each; and what the next user of the tenant gets
 * then.
 */
final class OneTokenHolder implements Measurement {
  private static final Duration SPAN = Duration.ofSeconds(15);
  private static final int SOCKETS = 2;

  /** More are not tried: each of them would be refused. */
  private static final int REFUSED_HANDSHAKES = 20;

  @Override
  public Duration patience() {
    return Duration.ofMinutes(3);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    Issuer issuer = deployment.issuer();
    Tenant tenant = deployment.tenant("token", "bronze");
    String token = issuer.token(tenant.id(), "attacker", watch.now());
    List<Handshake> answers = new ArrayList<>();
    Duration start = watch.elapsed();
    int sessions = 0;
    int refusedSessions = 0;
    Duration lastOpened = Duration.ZERO;
    while (watch.elapsed().minus(start).compareTo(SPAN) < 0) {
      Optional<Session> session = tenant.tryNewSession(token);
      if (session.isEmpty()) {
        refusedSessions++;
        watch.sleep(Duration.ofMillis(100));
        continue;
      }
      sessions++;
      for (int i = 0; i < SOCKETS && refused(answers) < REFUSED_HANDSHAKES; i++) {
        Handshake answer = session.get().connect();
        answers.add(answer);
        if (answer instanceof Handshake.Admitted) {
          lastOpened = watch.elapsed().minus(start);
        }
      }
    }
    String other = other(tenant, issuer.token(tenant.id(), "somebody", watch.now()));
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
            "a share of both; another user is admitted"));
  }

  private static String other(Tenant tenant, String token) throws InterruptedException {
    Optional<Session> session = tenant.tryNewSession(token);
    if (session.isEmpty()) {
      return "no session";
    }
    Handshake answer = session.get().connect();
    answer.close();
    return "a session, and a socket: " + answer.word();
  }

  private static int refused(List<Handshake> answers) {
    return (int) answers.stream().filter(answer -> !(answer instanceof Handshake.Admitted)).count();
  }
}
