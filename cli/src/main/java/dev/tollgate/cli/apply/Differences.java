package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.Difference.Kind;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * All that does not stand as a file wants it.
 *
 * @param all tiers first, in the order in which they are told
 * @param asTheyShould how many tiers and tenants of the file stand so already
 * @param notes what is left alone, and why
 */
public record Differences(List<Difference> all, long asTheyShould, List<String> notes) {
  public Differences {
    all = List.copyOf(all);
    notes = List.copyOf(notes);
  }

  public boolean isEmpty() {
    return all.isEmpty();
  }

  List<Difference> of(Verb verb, Kind kind) {
    return all.stream().filter(difference -> difference.is(verb, kind)).toList();
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
            "Plan: %,d to create, %,d to change, %,d to remove; %,d as they should be.",
            count(Verb.CREATE),
            count(Verb.CHANGE),
            count(Verb.REMOVE),
            asTheyShould));
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
        .put("asTheyShouldBe", asTheyShould);
    notes.forEach(document.putArray("notes")::add);
    return document;
  }
}
