package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What a change would come to, as the control plane tells it. */
public final class DryRun {
  /** The exit code when something would change. */
  static final int WOULD_CHANGE = 3;

  public static final String DESCRIPTION =
      "Change nothing; tell what would change. Exit code 3 if anything would.";

  private static final String QUERY = "?dryRun=true";

  private final String name;
  private final ObjectNode document;

  private DryRun(String name, ObjectNode document) {
    this.name = name;
    this.document = document;
  }

  /**
   * Asks for all parts.
   *
   * @param name whatever is to be changed
   * @throws Failure if the change would be refused
   */
  public static DryRun ask(
      Sender api,
      String name,
      String method,
      String path,
      JsonNode body,
      Map<String, String> headers) {
    ObjectNode whole = part(api, method, path + QUERY, body, headers);
    while (whole.has("next")) {
      String cursor = Api.query(Map.of("cursor", whole.remove("next").asText()));
      JsonNode part = part(api, method, path + QUERY + "&" + cursor, body, headers);
      tenants(whole).addAll(tenants(part));
      ObjectNode totals = whole.withObjectProperty("totals");
      part.path("totals")
          .properties()
          .forEach(
              total ->
                  totals.put(
                      total.getKey(),
                      totals.path(total.getKey()).asLong() + total.getValue().asLong()));
      Json.text(part, "next").ifPresent(next -> whole.put("next", next));
    }
    return new DryRun(name, whole);
  }

  private static ObjectNode part(
      Sender api, String method, String path, JsonNode body, Map<String, String> headers) {
    return of("", api.send(method, path, Optional.of(body), headers)).document;
  }

  /**
   * What an answer to a dry run tells, if it tells all.
   *
   * @throws Failure if the change would be refused
   */
  static DryRun of(String name, Answer answer) {
    return new DryRun(
        name, answer.orFail().json() instanceof ObjectNode object ? object : Json.object());
  }

  private static ArrayNode tenants(JsonNode document) {
    return document.path("tenants") instanceof ArrayNode tenants
        ? tenants
        : Json.object().putArray("tenants");
  }

  public ObjectNode document() {
    return document;
  }

  /** The version that stands; 0 for none and for a default tier that nobody has changed. */
  long version() {
    return document.path("version").asLong();
  }

  /** {@code CREATED}, {@code CHANGED}, {@code UNCHANGED} or {@code REMOVED}. */
  String outcome() {
    return document.path("outcome").asText();
  }

  /** What would change of the tier or, if it is a tenant that is to be changed, nothing. */
  Map<String, Change> changes() {
    return changes(document);
  }

  /** What the change would mean for what tenants have, a line each. */
  List<String> consequences() {
    List<String> consequences = new ArrayList<>();
    for (JsonNode tenant : tenants(document)) {
      String id = Json.text(tenant, "tenantId").orElse("");
      for (JsonNode consequence : tenant.path("consequences")) {
        Json.text(consequence, "detail").ifPresent(detail -> consequences.add(id + ": " + detail));
      }
    }
    return consequences;
  }

  public int exitCode() {
    return changesAnything() ? WOULD_CHANGE : 0;
  }

  private boolean changesAnything() {
    return !outcome().equals("UNCHANGED") || !tenants(document).isEmpty();
  }

  /** What would change, in lines for a person. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    String outcome = outcome().toLowerCase(Locale.ROOT);
    JsonNode totals = document.path("totals");
    boolean isTier = document.has("tier");
    lines.add(
        name
            + (outcome.equals("unchanged") ? ": unchanged" : ": would be " + outcome)
            + (isTier && totals.path("tenants").asLong() > 0
                ? "; %s of its %s tenants would change"
                    .formatted(Json.text(totals.path("changed")), Json.text(totals.path("tenants")))
                : ""));
    changes(document).forEach((path, change) -> lines.add("  " + path + ": " + change));
    Table table = new Table("TENANT", "WHAT", "FROM", "TO");
    for (JsonNode tenant : tenants(document)) {
      String id = Json.text(tenant, "tenantId").orElse("");
      changes(tenant).forEach((path, change) -> table.row(id, path, change.from(), change.to()));
    }
    List<String> consequences = consequences();
    if (table.lines().size() > 1) {
      lines.add("");
      lines.addAll(table.lines());
    }
    if (!consequences.isEmpty()) {
      lines.add("");
      lines.addAll(consequences);
    }
    return lines;
  }

  private static Map<String, Change> changes(JsonNode document) {
    Map<String, Change> changes = new TreeMap<>();
    collect("", document.path("changes"), changes);
    return changes;
  }

  private static void collect(String path, JsonNode node, Map<String, Change> changes) {
    if (node.path("from").isValueNode() || node.path("to").isValueNode()) {
      changes.put(
          path,
          new Change(
              Json.text(node, "from").orElse(Change.NONE),
              Json.text(node, "to").orElse(Change.NONE)));
      return;
    }
    node.properties()
        .forEach(
            field ->
                collect(
                    path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                    field.getValue(),
                    changes));
  }
}
