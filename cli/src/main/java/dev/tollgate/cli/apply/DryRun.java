package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The control plane's answer to a dry run: the effects that a change would have. */
public final class DryRun {
  public static final String DESCRIPTION =
      "Only show what would change. Exit code 3 if anything would.";

  private static final String QUERY = "?dryRun=true";

  private final String name;
  private final ObjectNode document;

  private DryRun(String name, ObjectNode document) {
    this.name = name;
    this.document = document;
  }

  /**
   * Requests a dry run, and all pages of its result.
   *
   * @param name the name of the tier or tenant to change
   * @param body the change; empty for a removal
   * @throws Failure if the control plane would reject the change
   */
  public static DryRun request(
      Sender api,
      String name,
      String method,
      String path,
      Optional<JsonNode> body,
      Map<String, String> headers) {
    PageIterator pages =
        new PageIterator(
            cursor ->
                page(
                    api,
                    method,
                    path + QUERY + (cursor.isEmpty() ? "" : "&" + Api.query(cursor)),
                    body,
                    headers));
    ObjectNode whole = (ObjectNode) pages.next();
    whole.remove("next");
    pages.forEachRemaining(page -> add(page, whole));
    return new DryRun(name, whole);
  }

  private static void add(JsonNode page, ObjectNode whole) {
    tenants(whole).addAll(tenants(page));
    ObjectNode totals = whole.withObjectProperty("totals");
    page.path("totals")
        .properties()
        .forEach(
            total ->
                totals.put(
                    total.getKey(),
                    totals.path(total.getKey()).asLong() + total.getValue().asLong()));
  }

  private static ObjectNode page(
      Sender api,
      String method,
      String path,
      Optional<JsonNode> body,
      Map<String, String> headers) {
    return of("", api.send(method, path, body, headers)).document;
  }

  /**
   * The result in a response that has no further pages.
   *
   * @throws Failure if the control plane would reject the change
   */
  static DryRun of(String name, Response response) {
    return new DryRun(
        name, response.orThrow().json() instanceof ObjectNode object ? object : Json.object());
  }

  private static ArrayNode tenants(JsonNode document) {
    return document.path("tenants") instanceof ArrayNode tenants
        ? tenants
        : Json.object().putArray("tenants");
  }

  public ObjectNode document() {
    return document;
  }

  /** The current version; 0 if there is none, or for a default tier that was never changed. */
  long version() {
    return document.path("version").asLong();
  }

  /** {@code CREATED}, {@code CHANGED}, {@code UNCHANGED} or {@code REMOVED}. */
  String outcome() {
    return document.path("outcome").asText();
  }

  /** The changes of the tier's fields; empty for a dry run of a tenant's change. */
  Map<String, Change> changes() {
    return changes(document);
  }

  /** The effects of the change on open connections and buckets, one line each. */
  public List<String> consequences() {
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
    return changesAnything() ? ExitCode.DIFFERS : 0;
  }

  private boolean changesAnything() {
    return !outcome().equals("UNCHANGED") || !tenants(document).isEmpty();
  }

  /** The changes in lines for a person. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    String outcome = outcome().toLowerCase(Locale.ROOT);
    JsonNode totals = document.path("totals");
    // A tier's document names the tier. A tenant's version is at least 1.
    boolean isTier = document.has("tier");
    lines.add(
        name
            + (outcome.equals("unchanged") ? ": unchanged" : ": would be " + outcome)
            + (outcome.equals("removed") ? "; its version is " + version() : "")
            + (!isTier && version() == 0 ? "; it does not exist" : "")
            + (isTier && totals.path("tenants").asLong() > 0
                ? "; %s of its %s tenants would change"
                    .formatted(Json.text(totals.path("changed")), Json.text(totals.path("tenants")))
                : ""));
    List<String> consequences = consequences();
    if (outcome.equals("removed")) {
      // All values disappear, so a list of them says nothing.
      consequences.forEach(consequence -> lines.add("  " + consequence));
      return lines;
    }
    changes(document).forEach((path, change) -> lines.add("  " + path + ": " + change));
    Table table = new Table("TENANT", "WHAT", "FROM", "TO");
    for (JsonNode tenant : tenants(document)) {
      String id = Json.text(tenant, "tenantId").orElse("");
      changes(tenant).forEach((path, change) -> table.row(id, path, change.from(), change.to()));
    }
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
