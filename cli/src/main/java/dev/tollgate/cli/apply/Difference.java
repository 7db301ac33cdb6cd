package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The difference between the desired and the current state of one tier or tenant.
 *
 * @param name the tier's name, or the tenant's id
 * @param version the version that was compared, and the only one that may be changed; 0 if the tier
 *     or tenant does not exist
 * @param changes the changed fields, by dotted path
 * @param remark more about the difference; may be empty
 * @param consequences the effects of the change on open connections and buckets
 */
record Difference(
    Verb verb,
    Resource resource,
    String name,
    long version,
    SortedMap<String, Change> changes,
    String remark,
    List<String> consequences) {
  private static final int MAX_CONSEQUENCES = 5;

  Difference {
    changes = Collections.unmodifiableSortedMap(new TreeMap<>(changes));
    consequences = List.copyOf(consequences);
  }

  /** The change that removes the difference. */
  enum Verb {
    CREATE("+"),
    CHANGE("~"),
    REMOVE("-");

    private final String sign;

    Verb(String sign) {
      this.sign = sign;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  enum Resource {
    TIER,
    TENANT;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  boolean is(Verb someVerb, Resource someResource) {
    return verb == someVerb && resource == someResource;
  }

  /** The resource and its name, such as {@code tenant acme}. */
  String what() {
    return resource + " " + name;
  }

  /** The difference in lines for a person. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(verb.sign + " " + verb + " " + what() + (remark.isEmpty() ? "" : ": " + remark));
    changes.forEach(
        (path, change) ->
            lines.add("    " + path + ": " + (verb == Verb.CREATE ? change.to() : change)));
    consequences.stream()
        .limit(MAX_CONSEQUENCES)
        .forEach(consequence -> lines.add("    ! " + consequence));
    int more = consequences.size() - MAX_CONSEQUENCES;
    if (more > 0) {
      lines.add("    ! and " + more + " more");
    }
    return lines;
  }

  ObjectNode document() {
    ObjectNode document =
        Json.object()
            .put("verb", verb.toString())
            .put("kind", resource.toString())
            .put("name", name)
            .put("version", version);
    ObjectNode differing = document.putObject("changes");
    changes.forEach(
        (path, change) ->
            differing.putObject(path).put("from", change.from()).put("to", change.to()));
    consequences.forEach(document.putArray("consequences")::add);
    return document;
  }
}
