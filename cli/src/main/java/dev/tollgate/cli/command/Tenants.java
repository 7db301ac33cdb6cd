package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.DryRun;
import dev.tollgate.cli.apply.Limits;
import dev.tollgate.cli.apply.OverrideValue;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code tollgate tenants}. */
@Command(name = "tenants", description = "Onboard, show, change and offboard tenants.")
final class Tenants {
  /** The time between two requests for a tenant that is being removed. */
  private static final Duration POLL_INTERVAL = Duration.ofSeconds(2);

  /** The time between two prints of a list that is watched. */
  private static final Duration WATCH_INTERVAL = Duration.ofSeconds(2);

  /** The most tenants of one request for activity. */
  private static final int ACTIVITY_TENANTS = 25;

  private final Tollgate tollgate;
  private final Shell shell;

  Tenants(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Command(
      name = "onboard",
      aliases = "create",
      description = "Onboard a tenant. Repeating the command is harmless.")
  int onboard(
      @Parameters(
              paramLabel = "TENANT",
              description =
                  "The new tenant's id: lower-case letters, digits and hyphens, up to 36.")
          String tenantId,
      @Option(
              names = "--tier",
              paramLabel = "TIER",
              required = true,
              description = "The tenant's tier.")
          String tier,
      @Option(
              names = "--set",
              paramLabel = "NAME=VALUE",
              description =
                  "Override a setting of the tier, for example tenantConnections=10 or line=false. May be"
                      + " repeated.")
          @Nullable Map<String, String> overrides,
      @Mixin Confirmation confirmation) {
    Map<String, OverrideValue> values =
        OverrideValue.parse(overrides == null ? Map.of() : overrides);
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Onboard %s in tier %s?".formatted(tenantId, tier),
        "onboard " + tenantId);
    Response response = onboard(tollgate.controlPlane(), tenantId, tier, values);
    String done = response.status() == 200 ? "%s is already onboarded" : "%s is onboarded";
    return printTenant(response, done.formatted(tenantId));
  }

  static Response onboard(
      Api api, String tenantId, String tier, Map<String, OverrideValue> overrides) {
    ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", tier);
    if (!overrides.isEmpty()) {
      body.set("overrides", OverrideValue.document(overrides));
    }
    return api.send("POST", "/tenants", body).orThrow();
  }

  @Command(name = "list", aliases = "ls", description = "List tenants.")
  int list(
      @Option(
              names = "--prefix",
              paramLabel = "TEXT",
              description = "List only tenants whose ids begin with TEXT.")
          Optional<String> prefix,
      @Option(
              names = "--tier",
              paramLabel = "TIER",
              description = "List only tenants of this tier.")
          Optional<String> tier,
      @Option(names = "--pending", description = "List only tenants with pending changes.")
          boolean pending,
      @Option(
              names = "--activity",
              description =
                  "Show open connections, about how many were admitted and refused so far, and levels of"
                      + " buckets as last seen, instead of limits.")
          boolean activity,
      @Option(names = "--watch", description = "Print the list anew every two seconds.")
          boolean watch) {
    SortedMap<String, String> filters = new TreeMap<>();
    prefix.ifPresent(text -> filters.put("prefix", text));
    tier.ifPresent(name -> filters.put("tier", name));
    if (pending) {
      filters.put("pending", "true");
    }
    Api api = tollgate.controlPlane();
    list(api, filters, activity);
    while (watch) {
      shell.sleep(WATCH_INTERVAL);
      shell.clearScreen();
      list(api, filters, activity);
    }
    return 0;
  }

  private void list(Api api, SortedMap<String, String> filters, boolean activity) {
    ObjectNode all = Json.object();
    ArrayNode tenants = all.putArray("tenants");
    tollgate.tenants(api, filters).stream()
        .sorted(Comparator.comparing(tenant -> Json.text(tenant, "tenantId").orElse("")))
        .forEach(tenants::add);
    Table table = activity ? activity(api, tenants) : limits(tenants);
    String none =
        filters.isEmpty() ? "No tenants." : "No tenants match " + Api.query(filters) + ".";
    tollgate.print(all, tenants.isEmpty() ? List.of(none) : table.lines());
  }

  private static Table limits(ArrayNode tenants) {
    Table table =
        new Table("TENANT", "TIER", "STATUS", "ISOLATION", "MAX CONNECTIONS", "OVERRIDES");
    for (JsonNode tenant : tenants) {
      table.row(
          Json.text(tenant, "tenantId").orElse(""),
          Json.text(tenant, "tier").orElse(""),
          Json.text(tenant, "status").orElse(""),
          Json.text(tenant, "isolation").orElse(""),
          Json.text(tenant.path("limits"), "tenantConnections").orElse("?"),
          OverrideValue.in(tenant.path("overrides")).entrySet().stream()
              .map(override -> override.getKey() + "=" + override.getValue())
              .collect(Collectors.joining(" ")));
    }
    return table;
  }

  /** Adds what happens to the tenants to their documents. */
  private static Table activity(Api api, ArrayNode tenants) {
    Table table = new Table("TENANT", "STATUS", "OPEN", "ADMITTED", "REFUSED", "LEVELS");
    for (int start = 0; start < tenants.size(); start += ACTIVITY_TENANTS) {
      Map<String, ObjectNode> page = new LinkedHashMap<>();
      tenants
          .valueStream()
          .skip(start)
          .limit(ACTIVITY_TENANTS)
          .forEach(tenant -> page.put(tenant.path("tenantId").asText(), (ObjectNode) tenant));
      api.get("/activity" + Api.suffix(Map.of("tenantIds", String.join(",", page.keySet()))))
          .orThrow()
          .json()
          .path("tenants")
          .forEach(
              seen ->
                  page.getOrDefault(seen.path("tenantId").asText(), Json.object())
                      .set("activity", seen));
      page.forEach((tenantId, tenant) -> activity(table, tenantId, tenant));
    }
    return table;
  }

  private static void activity(Table table, String tenantId, JsonNode tenant) {
    JsonNode seen = tenant.path("activity");
    table.row(
        tenantId,
        Json.text(tenant, "status").orElse(""),
        Json.text(seen, "connections").orElse("?"),
        Json.text(seen, "admitted").orElse("?"),
        Json.text(seen, "refused").orElse("?"),
        seen.path("buckets")
            .valueStream()
            .map(
                bucket ->
                    "%s %s/%s"
                        .formatted(
                            bucket.path("action").asText(),
                            bucket.path("level").asText(),
                            bucket.path("capacity").asText()))
            .collect(Collectors.joining(", ")));
  }

  @Command(name = "show", description = "Show a tenant with its limits, connections and buckets.")
  int show(@Parameters(paramLabel = "TENANT") String tenantId) {
    Response response = found(tollgate.controlPlane().get(Paths.tenant(tenantId)), tenantId);
    tollgate.print(response, describe(response.json()));
    return 0;
  }

  @Command(name = "set-tier", description = "Move a tenant to another tier.")
  int setTier(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Parameters(paramLabel = "TIER") String tier,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("tier", tier);
    if (dryRun) {
      return preview(tenantId, "PATCH", Optional.of(body), ifVersion);
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Move %s to tier %s?".formatted(tenantId, tier),
        "move " + tenantId);
    return patch(tenantId, body, ifVersion, "%s is now in tier %s", tier);
  }

  @Command(
      name = "override",
      description =
          "Replace all overrides of a tenant. Without NAME=VALUE, remove them: the tier's settings apply.")
  int override(
      @Parameters(paramLabel = "TENANT", index = "0") String tenantId,
      @Parameters(paramLabel = "NAME=VALUE", index = "1..*", arity = "0..*")
          @Nullable Map<String, String> overrides,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    Map<String, OverrideValue> named =
        OverrideValue.parse(overrides == null ? Map.of() : overrides);
    ObjectNode body = Json.object();
    body.set("overrides", OverrideValue.document(named));
    if (dryRun) {
      return preview(tenantId, "PATCH", Optional.of(body), ifVersion);
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Replace all overrides of " + tenantId + "?",
        "replace the overrides of " + tenantId);
    String removed = removed(tenantId, named.keySet());
    return patch(tenantId, body, ifVersion, "%s now has these limits%s", removed);
  }

  /** The overrides that a tenant has and loses, in words; empty if it loses none. */
  private String removed(String tenantId, Set<String> named) {
    Response tenant = found(tollgate.controlPlane().get(Paths.tenant(tenantId)), tenantId);
    Set<String> names = new TreeSet<>();
    tenant.json().path("overrides").fieldNames().forEachRemaining(names::add);
    names.removeAll(named);
    return names.isEmpty() ? "" : " (removed overrides: " + String.join(", ", names) + ")";
  }

  @Command(
      name = "suspend",
      description = "Suspend a tenant: end its sessions and refuse new connections.")
  int suspend(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("status", "SUSPENDED");
    if (dryRun) {
      return preview(tenantId, "PATCH", Optional.of(body), ifVersion);
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Suspend " + tenantId + " and end its sessions?",
        "suspend " + tenantId);
    return patch(tenantId, body, ifVersion, "%s is suspended", tenantId);
  }

  @Command(name = "activate", description = "Activate a suspended tenant.")
  int activate(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    ObjectNode body = Json.object().put("status", "ACTIVE");
    if (dryRun) {
      return preview(tenantId, "PATCH", Optional.of(body), ifVersion);
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(), "Activate " + tenantId + "?", "activate " + tenantId);
    return patch(tenantId, body, ifVersion, "%s is active", tenantId);
  }

  @Command(
      name = "schedule",
      description =
          "Multiply the limits of a tenant for a while. To list its windows, use `tollgate tenants show`.")
  int schedule(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Mixin ScheduleOptions window,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return windows(tenantId).add(window, confirmation, dryRun, ifVersion);
  }

  @Command(
      name = "unschedule",
      description = "Cancel a window of a tenant. If it is open, it closes.")
  int unschedule(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Parameters(paramLabel = "SCHEDULE", description = "Its id in `tollgate tenants show`.")
          String id,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return windows(tenantId).cancel(id, confirmation, dryRun, ifVersion);
  }

  private ScheduleOptions.Windows windows(String tenantId) {
    return new ScheduleOptions.Windows(
        tollgate, tenantId, tenantId, Paths.tenant(tenantId), missing(tenantId));
  }

  @Command(
      name = "clear-line",
      description =
          "Make all places in a tenant's line void. Clients that wait claim or queue again when they"
              + " come back.")
  int clearLine(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Mixin Confirmation confirmation,
      @Mixin IfVersion ifVersion) {
    Api api = tollgate.controlPlane();
    tollgate.confirm(
        confirmation.isGiven(),
        () -> found(api.get(Paths.tenant(tenantId)), tenantId),
        "Make all places in the line of " + tenantId + " void?",
        "clear the line of " + tenantId);
    Response response =
        found(
            api.send("DELETE", Paths.line(tenantId), Optional.empty(), ifVersion.headers()),
            tenantId);
    return printTenant(response, "The line of " + tenantId + " is cleared");
  }

  @Command(
      name = "offboard",
      aliases = "delete",
      description =
          "Remove a tenant with its sessions, queues and schedules, and wait until it is removed.")
  int offboard(
      @Parameters(paramLabel = "TENANT") String tenantId,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion,
      @Option(
              names = "--timeout",
              paramLabel = "SECONDS",
              defaultValue = "180",
              description = "How long to wait. Default: ${DEFAULT-VALUE}.")
          long timeoutSeconds) {
    if (dryRun) {
      return preview(tenantId, "DELETE", Optional.empty(), ifVersion);
    }
    Api api = tollgate.controlPlane();
    Runnable exists = () -> found(api.get(Paths.tenant(tenantId)), tenantId);
    tollgate.confirm(
        confirmation.isGiven(),
        exists,
        "Remove " + tenantId + " with its sessions, queues and schedules?",
        "remove " + tenantId);
    // The answer to DELETE is the same for a tenant that never existed, except with its version.
    if (confirmation.isGiven() && !ifVersion.isPresent()) {
      exists.run();
    }
    Response response =
        api.send("DELETE", Paths.tenant(tenantId), Optional.empty(), ifVersion.headers()).orThrow();
    if (response.status() == 202) {
      // The removal has changed the version.
      String again = ifVersion.isPresent() ? " without --if-version." : ".";
      awaitRemoval(api, tenantId, Duration.ofSeconds(timeoutSeconds), again);
    }
    tollgate.print(Json.object(), List.of(tenantId + " is removed"));
    return 0;
  }

  private void awaitRemoval(Api api, String tenantId, Duration timeout, String again) {
    long start = shell.nanoTime().getAsLong();
    while (true) {
      Response response = api.get(Paths.tenant(tenantId));
      if (response.status() == 404) {
        return;
      }
      response.orThrow();
      if (shell.nanoTime().getAsLong() - start > timeout.toNanos()) {
        throw Failure.of(
            tenantId
                + " is still being removed after "
                + timeout.toSeconds()
                + " s. The control plane finishes this by itself. To keep waiting, run the command"
                + " again"
                + again);
      }
      shell.sleep(POLL_INTERVAL);
    }
  }

  private int preview(
      String tenantId, String method, Optional<JsonNode> body, IfVersion ifVersion) {
    return tollgate.preview(tenantId, method, Paths.tenant(tenantId), body, ifVersion);
  }

  private int patch(
      String tenantId, ObjectNode body, IfVersion ifVersion, String done, String argument) {
    Response response =
        found(
            tollgate
                .controlPlane()
                .send("PATCH", Paths.tenant(tenantId), Optional.of(body), ifVersion.headers()),
            tenantId);
    return printTenant(response, done.formatted(tenantId, argument));
  }

  private int printTenant(Response response, String done) {
    List<String> lines = new ArrayList<>(List.of(done, ""));
    lines.addAll(describe(response.json()));
    tollgate.print(response, lines);
    return 0;
  }

  private Response found(Response response, String tenantId) {
    return tollgate.found(response, missing(tenantId));
  }

  private static String missing(String tenantId) {
    return "No tenant named `" + tenantId + "`. List tenants with `tollgate tenants list`.";
  }

  /** A tenant's document in lines for a person. */
  private static List<String> describe(JsonNode tenant) {
    Table facts = new Table("", "");
    for (String field :
        List.of("tenantId", "tier", "status", "version", "isolation", "connections")) {
      Json.text(tenant, field).ifPresent(value -> facts.row(field, value));
    }
    Set<String> modes = new TreeSet<>();
    tenant.path("buckets").forEach(bucket -> Json.text(bucket, "fillMode").ifPresent(modes::add));
    if (!modes.isEmpty()) {
      facts.row("fillMode", String.join(", ", modes));
    }
    if (tenant.has(Limits.LINE)) {
      String overridden = tenant.path("overrides").has(Limits.LINE) ? " (overridden)" : "";
      facts.row(Limits.LINE, (tenant.path(Limits.LINE).asBoolean() ? "on" : "off") + overridden);
    }
    List<String> lines = new ArrayList<>(facts.lines());

    boolean isEnforced = Limits.modes(tenant).isEmpty();
    Table limits =
        isEnforced ? new Table("LIMIT", "VALUE", "") : new Table("LIMIT", "VALUE", "", "MODE");
    Set<String> overridden = OverrideValue.in(tenant.path("overrides")).keySet();
    for (Map.Entry<String, JsonNode> limit : tenant.path("limits").properties()) {
      String name = limit.getKey();
      boolean isOverridden = overridden.contains(name) || overridden.contains(Limits.MODE + name);
      List<String> cells =
          new ArrayList<>(
              List.of(name, Json.text(limit.getValue()), isOverridden ? "overridden" : ""));
      if (!isEnforced) {
        cells.add(Limits.mode(tenant, name));
      }
      limits.row(cells.toArray(String[]::new));
    }
    addTable(lines, limits);
    addTable(lines, ScheduleOptions.table(tenant));

    Table buckets = new Table("BUCKET", "PER MINUTE", "CAPACITY", "LEVEL", "STATE", "NEXT TOKEN");
    for (JsonNode bucket : tenant.path("buckets")) {
      boolean known = !bucket.path("levelEstimated").asBoolean();
      boolean full = known && bucket.path("level").asLong() >= bucket.path("capacity").asLong();
      buckets.row(
          Json.text(bucket, "action").orElse(""),
          Json.text(bucket, "ratePerMinute").orElseGet(() -> refill(bucket.path("refill"))),
          Json.text(bucket, "capacity").orElse(""),
          known ? Json.text(bucket, "level").orElse("") : "not known",
          Json.text(bucket, "state").orElse(""),
          full ? "full" : Json.instant(bucket, "nextTokenAt").orElse(""));
    }
    addTable(lines, buckets);
    if (tenant
        .path("buckets")
        .valueStream()
        .anyMatch(each -> each.path("levelEstimated").asBoolean())) {
      lines.add(
          "SQS did not answer, so levels are not known. In JSON, `level` follows from the last fill.");
    }
    if (isBeingSetUp(tenant)) {
      lines.add(
          "Buckets in state PROVISIONING have no queue yet, so connections get 429. After an id is"
              + " used again, this takes up to two minutes.");
    }
    tenant.path("buckets").forEach(bucket -> line(bucket).ifPresent(lines::add));
    return lines;
  }

  /** For example {@code daily 00:00 Europe/Berlin}. */
  private static String refill(JsonNode calendar) {
    String period =
        Json.text(calendar, "day")
            .map(day -> "each " + day.charAt(0) + day.substring(1).toLowerCase(Locale.ROOT))
            .orElse("daily");
    return period + " " + calendar.path("at").asText() + " " + calendar.path("zone").asText();
  }

  private static boolean isBeingSetUp(JsonNode tenant) {
    return tenant
        .path("buckets")
        .valueStream()
        .anyMatch(bucket -> bucket.path("state").asText().equals("PROVISIONING"));
  }

  /** How many wait in line at a bucket, if anybody does. */
  private static Optional<String> line(JsonNode bucket) {
    JsonNode line = bucket.path("line");
    return line.path("length").asLong() == 0
        ? Optional.empty()
        : Optional.of(
            "In line for %s: %s. Whoever comes now waits %s s."
                .formatted(
                    Json.text(bucket, "action").orElse("?"),
                    Json.text(line, "length").orElse("?"),
                    Json.text(line, "waitSeconds").orElse("?")));
  }

  private static void addTable(List<String> lines, Table table) {
    if (table.lines().size() > 1) {
      lines.add("");
      lines.addAll(table.lines());
    }
  }
}
