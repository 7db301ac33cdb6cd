package dev.tollgate.bench.line;

import dev.tollgate.bench.Times;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What happened to each client that came back in vain, for a person who looks for the reason. */
final class Trace {
  private Trace() {}

  /** A line for each polite client that was refused more than once. */
  static List<String> of(List<Attempt> attempts) {
    return attempts.stream()
        .filter(attempt -> attempt.manners() == Manners.POLITE)
        .collect(Collectors.groupingBy(Attempt::client, TreeMap::new, Collectors.toList()))
        .values()
        .stream()
        .filter(made -> made.stream().filter(attempt -> !attempt.isAdmitted()).count() > 1)
        .map(Trace::line)
        .toList();
  }

  private static String line(List<Attempt> attempts) {
    Attempt first = attempts.get(0);
    return attempts.stream()
        .map(Trace::step)
        .collect(
            Collectors.joining("; ", "%s, client %d: ".formatted(first.run(), first.client()), ""));
  }

  private static String step(Attempt attempt) {
    return Stream.of(
            "at %s s %s".formatted(Times.seconds(attempt.sent()), attempt.result().word()),
            attempt.told().map(told -> "told to wait " + told.toSeconds() + " s").orElse(""),
            attempt.slot().map(slot -> "slot " + Times.seconds(slot) + " s").orElse(""))
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", "));
  }
}
