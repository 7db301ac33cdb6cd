package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.Difference.Resource;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * All differences between a file and a deployment.
 *
 * @param all the differences in the order in which they are printed: tiers first
 * @param unchanged the number of tiers and tenants in the file that do not differ
 * @param notes what the comparison ignored, and why
 */
public record Differences(List<Difference> all, long unchanged, List<String> notes) {
  public Differences {
    all = List.copyOf(all);
    notes = List.copyOf(notes);
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  List<Difference> of(Verb verb, Resource resource) {
    return all.stream().filter(difference -> difference.is(verb, resource)).toList();
  }

  private long count(Verb verb) {
    return all.stream().filter(difference -> difference.verb() == verb).count();
  }

  /** The differences in lines for a person, with a summary at the end. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    all.forEach(difference -> lines.addAll(difference.lines()));
    if (!lines.isEmpty()) {
      lines.add("");
    }
    lines.add(
        String.format(
            Locale.ROOT,
            "Plan: %,d to create, %,d to change, %,d to remove, %,d unchanged.",
            count(Verb.CREATE),
            count(Verb.CHANGE),
            count(Verb.REMOVE),
            unchanged));
    lines.addAll(notes);
    return lines;
  }

  public ObjectNode document() {
    ObjectNode document = Json.object();
    ArrayNode differences = document.putArray("differences");
    all.forEach(difference -> differences.add(difference.document()));
    document
        .putObject("summary")
        .put("create", count(Verb.CREATE))
        .put("change", count(Verb.CHANGE))
        .put("remove", count(Verb.REMOVE))
        .put("asTheyShouldBe", unchanged);
    notes.forEach(document.putArray("notes")::add);
    return document;
  }
}
