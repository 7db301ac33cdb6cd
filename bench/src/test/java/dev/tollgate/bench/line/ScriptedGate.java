package dev.tollgate.bench.line;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/** A gate that gives each client the answers that a test wrote down, after 100 ms. */
final class ScriptedGate implements Gate {
  static final Duration ANSWER_TIME = Duration.ofMillis(100);

  private final MovedAgenda agenda;
  private final Map<Integer, ArrayDeque<Answer>> answers = new HashMap<>();

  ScriptedGate(MovedAgenda agenda) {
    this.agenda = agenda;
  }

  ScriptedGate answers(int client, Answer... next) {
    answers.put(client, new ArrayDeque<>(Arrays.asList(next)));
    return this;
  }

  static Answer admitted() {
    return new Answer.Admitted();
  }

  static Answer refused(long seconds) {
    return new Answer.Refused(Duration.ofSeconds(seconds), Optional.empty());
  }

  @Override
  public Answer attempt(int client) {
    agenda.pass(ANSWER_TIME);
    return Optional.ofNullable(answers.get(client))
        .map(ArrayDeque::poll)
        .orElseThrow(() -> new NoSuchElementException("no answer for client " + client));
  }
}
