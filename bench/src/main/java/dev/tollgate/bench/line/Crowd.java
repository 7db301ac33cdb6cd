package dev.tollgate.bench.line;

import dev.tollgate.bench.line.Gate.Answer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The clients of a scenario. Each wants one connection, and comes back as its manners are. */
final class Crowd {
  private static final Duration IMPOLITE_WAIT = Duration.ofSeconds(1);
  private static final Duration AFTER_FAILURE = Duration.ofSeconds(1);

  private final String run;
  private final Agenda agenda;
  private final Gate gate;
  private final CountDownLatch present;
  private final List<Attempt> attempts = new ArrayList<>();

  /** A crowd whose clients will come at the times of their arrivals. */
  Crowd(Scenario scenario, Agenda agenda, Gate gate) {
    this.run = scenario.name();
    this.agenda = agenda;
    this.gate = gate;
    List<Scenario.Arrival> arrivals = scenario.arrivals();
    this.present = new CountDownLatch(arrivals.size());
    for (int client = 0; client < arrivals.size(); client++) {
      int number = client;
      Scenario.Arrival arrival = arrivals.get(client);
      agenda.at(arrival.at(), () -> attempt(number, arrival.manners()));
    }
  }

  private void attempt(int client, Manners manners) {
    Duration sent = agenda.now();
    Answer answer = answer(client);
    Duration answered = agenda.now();
    synchronized (attempts) {
      attempts.add(Attempt.of(run, client, manners, sent, answered, answer));
    }
    if (answer instanceof Answer.Admitted) {
      present.countDown();
    } else if (answer instanceof Answer.Refused refused) {
      comeBack(client, manners, sent, answered.plus(refused.retryAfter()));
    } else {
      agenda.at(answered.plus(AFTER_FAILURE), () -> attempt(client, manners));
    }
  }

  private Answer answer(int client) {
    try {
      return gate.attempt(client);
    } catch (RuntimeException e) {
      return new Answer.Failed(String.valueOf(e.getMessage()));
    }
  }

  private void comeBack(int client, Manners manners, Duration sent, Duration told) {
    switch (manners) {
      case POLITE -> agenda.at(told, () -> attempt(client, manners));
      case IMPOLITE -> agenda.at(sent.plus(IMPOLITE_WAIT), () -> attempt(client, manners));
      case NO_SHOW -> present.countDown();
    }
  }

  /**
   * Waits until every client is admitted or has left.
   *
   * @return whether that happened in time
   */
  boolean awaitAll(Duration within) throws InterruptedException {
    return present.await(within.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** The attempts so far, in the order in which they were sent. */
  List<Attempt> attempts() {
    synchronized (attempts) {
      return attempts.stream()
          .sorted(Comparator.comparing(Attempt::sent).thenComparing(Attempt::client))
          .toList();
    }
  }
}
