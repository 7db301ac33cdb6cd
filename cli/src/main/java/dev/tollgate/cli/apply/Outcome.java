package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.Difference.Verb;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The outcome of applying differences.
 *
 * @param applied how many differences were applied, by verb
 * @param notes what is not finished yet, and what to do about it
 * @param failures the differences that could not be applied
 */
public record Outcome(
    Differences differences,
    Map<Difference.Verb, Long> applied,
    List<String> notes,
    List<Failed> failures) {
  public Outcome {
    applied = Map.copyOf(applied);
    notes = List.copyOf(notes);
    failures = List.copyOf(failures);
  }

  /** A difference that could not be applied, and why. */
  public record Failed(Difference difference, String reason) {
    public String line() {
      return difference.what() + ": " + reason;
    }
  }

  private long count(Verb verb) {
    return applied.getOrDefault(verb, 0L);
  }

  /** The outcome in lines for a person. Failures are not among them. */
  public List<String> lines() {
    long notDone =
        differences.all().size() - applied.values().stream().mapToLong(Long::longValue).sum();
    List<String> lines = new ArrayList<>(List.of(""));
    lines.add(
        String.format(
            Locale.ROOT,
            "Applied: %,d created, %,d changed, %,d removed%s.",
            count(Verb.CREATE),
            count(Verb.CHANGE),
            count(Verb.REMOVE),
            notDone == 0 ? "" : String.format(Locale.ROOT, "; %,d not done", notDone)));
    lines.addAll(notes);
    return lines;
  }

  public ObjectNode document() {
    ObjectNode document = differences.document();
    document
        .putObject("applied")
        .put("created", count(Verb.CREATE))
        .put("changed", count(Verb.CHANGE))
        .put("removed", count(Verb.REMOVE));
    notes.forEach(document.withArrayProperty("notes")::add);
    ArrayNode failed = document.putArray("failed");
    failures.forEach(
        failure ->
            failed
                .addObject()
                .put("kind", failure.difference().resource().toString())
                .put("name", failure.difference().name())
                .put("reason", failure.reason()));
    return document;
  }
}
