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
 * A tier or a tenant that does not stand as a file wants it.
 *
 * @param name of the tier, or the tenant's id
 * @param version the one that was looked at, which alone may be changed; 0 if there is none
 * @param changes what differs, by dotted paths
 * @param remark what else is worth a word, perhaps empty
 * @param consequences what the change means for what tenants have
 */
record Difference(
    Verb verb,
    Kind kind,
    String name,
    long version,
    SortedMap<String, Change> changes,
    String remark,
    List<String> consequences) {
  private static final int MOST_CONSEQUENCES = 5;

  Difference {
    changes = Collections.unmodifiableSortedMap(new TreeMap<>(changes));
    consequences = List.copyOf(consequences);
  }

  /** What is to be done about it. */
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

  /** What it is that differs. */
  enum Kind {
    TIER,
    TENANT;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  boolean is(Verb aVerb, Kind aKind) {
    return verb == aVerb && kind == aKind;
  }

  /** What it is, such as {@code tenant acme}. */
  String what() {
    return kind + " " + name;
  }

  /** The difference in lines for a person. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add(verb.sign + " " + verb + " " + what() + (remark.isEmpty() ? "" : ": " + remark));
    changes.forEach(
        (path, change) ->
            lines.add("    " + path + ": " + (verb == Verb.CREATE ? change.to() : change)));
    consequences.stream()
        .limit(MOST_CONSEQUENCES)
        .forEach(consequence -> lines.add("    ! " + consequence));
    int more = consequences.size() - MOST_CONSEQUENCES;
    if (more > 0) {
      lines.add("    ! and " + more + " more");
    }
    return lines;
  }

  ObjectNode document() {
    ObjectNode document =
        Json.object()
            .put("verb", verb.toString())
            .put("kind", kind.toString())
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
