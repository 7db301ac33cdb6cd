package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.apply.DryRun;
import dev.tollgate.cli.apply.Limits;
import dev.tollgate.cli.apply.YamlFile;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code tollgate tiers}. */
@Command(name = "tiers", description = "List, show, change and delete tiers.")
final class Tiers {
  /** Fields that the control plane sets. */
  private static final Pattern READ_ONLY_FIELDS = Pattern.compile("version|rollout\\..*");

  private static final String FILE =
      "YAML or JSON file with a section tiers, as for `tollgate apply`. Its tenants are ignored.";

  private final Tollgate tollgate;
  private final Shell shell;

  Tiers(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Command(
      name = "list",
      aliases = "ls",
      description =
          "List tiers with the limits of a tenant. `tollgate tiers show` shows all of a tier.")
  int list() {
    Response response = tollgate.controlPlane().get("/tiers").orThrow();
    JsonNode tiers = response.json().path("tiers");
    boolean isEnforced = tiers.valueStream().allMatch(tier -> Limits.modes(tier).isEmpty());
    List<String> header =
        new ArrayList<>(
            List.of(
                "TIER", "ISOLATION", "CONNECTS PER MINUTE", "CONNECTIONS", "MESSAGES PER MINUTE"));
    if (!isEnforced) {
      header.add("NOT ENFORCED");
    }
    Table table = new Table(header.toArray(String[]::new));
    for (JsonNode tier : tiers) {
      JsonNode limits = tier.path("limits");
      List<String> cells =
          new ArrayList<>(
              List.of(
                  Json.text(tier, "tier").orElse(""),
                  Json.text(tier, "isolation").orElse(""),
                  Json.text(limits, "tenantPerMinute").orElse(""),
                  Json.text(limits, "tenantConnections").orElse(""),
                  Json.text(limits, "messagesPerMinute").orElse("")));
      if (!isEnforced) {
        cells.add(Limits.modes(tier));
      }
      table.row(cells.toArray(String[]::new));
    }
    tollgate.print(response, table.lines());
    return 0;
  }

  @Command(name = "show", description = "Show a tier. To change it, use `tollgate tiers export`.")
  int show(@Parameters(paramLabel = "TIER") String tier) {
    Response response = found(tollgate.controlPlane().get(Paths.tier(tier)), tier);
    JsonNode document = response.json();
    Table table = new Table("", "");
    Json.leaves(document)
        .forEach(
            (name, value) -> {
              if (!name.startsWith("rollout.")) {
                table.row(name, Json.text(value));
              }
            });
    table.row("rolled out", rollOut(document.path("rollout")));
    tollgate.print(response, table.lines());
    return 0;
  }

  /** How far the tier's version has reached its tenants. */
  private static String rollOut(JsonNode progress) {
    long tenants = progress.path("tenants").asLong();
    return progress.path("complete").asBoolean(true)
        ? "yes"
        : "to %d of the first %d tenants"
            .formatted(tenants - progress.path("unsettled").asLong(), tenants);
  }

  @Command(
      name = "export",
      description =
          "Print tiers as a file for `tollgate tiers apply` and `tollgate apply`: YAML, or with --json"
              + " the same as JSON.")
  int export(
      @Parameters(
              paramLabel = "TIER",
              arity = "0..*",
              description = "The tiers to print. Default: all.")
          @Nullable List<String> names) {
    Api api = tollgate.controlPlane();
    List<JsonNode> tiers = new ArrayList<>();
    if (names == null || names.isEmpty()) {
      api.get("/tiers").orThrow().json().path("tiers").forEach(tiers::add);
    } else {
      names.forEach(name -> tiers.add(found(api.get(Paths.tier(name)), name).json()));
    }
    ObjectNode document = DesiredState.document(tiers);
    tollgate.print(document, YamlFile.write(document).lines().toList());
    return 0;
  }

  @Command(
      name = "apply",
      description =
          "Create or change the tiers in a file, and show what changed. To see it first, use"
              + " --dry-run.")
  int apply(
      @Parameters(paramLabel = "FILE", description = FILE) Path file,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return dryRun ? diff(file, ifVersion) : apply(file, confirmation, ifVersion);
  }

  private int apply(Path file, Confirmation confirmation, IfVersion ifVersion) {
    SortedMap<String, ObjectNode> tiers = read(file, ifVersion);
    Api api = tollgate.controlPlane();
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        () -> warn(api, tiers, ifVersion),
        "Create or change these tiers: " + String.join(", ", tiers.keySet()) + "?",
        "apply the tiers");
    ObjectNode all = Json.object();
    ArrayNode applied = all.putArray("tiers");
    List<String> lines = new ArrayList<>();
    try (Progress progress = tollgate.progress()) {
      progress.start("Applied", tiers.size(), "tiers");
      for (Map.Entry<String, ObjectNode> tier : tiers.entrySet()) {
        String name = tier.getKey();
        Response before = api.get(Paths.tier(name));
        if (before.status() != 404) {
          before.orThrow();
        }
        Response put =
            api.send("PUT", Paths.tier(name), Optional.of(tier.getValue()), ifVersion.headers())
                .orThrow();
        JsonNode after = put.json();
        applied.add(after);
        progress.step(true);
        lines.addAll(
            before.status() == 404
                ? List.of(name + ": created")
                : changes(name, before.json(), after));
        if (put.status() == 202) {
          lines.add("  the change reaches its tenants within minutes");
        }
      }
    } finally {
      // If a later tier is rejected, the earlier ones have changed and must be shown.
      if (!applied.isEmpty()) {
        tollgate.print(all, lines);
      }
    }
    return 0;
  }

  /** Shows a person the effects on open connections and buckets before anything changes. */
  private void warn(Api api, SortedMap<String, ObjectNode> tiers, IfVersion ifVersion) {
    if (tollgate.format().isForPeople()) {
      tiers.forEach(
          (name, tier) ->
              dryRun(api, name, tier, ifVersion).consequences().forEach(shell::printError));
    }
  }

  private static DryRun dryRun(Api api, String name, ObjectNode tier, IfVersion ifVersion) {
    return DryRun.request(
        api, name, "PUT", Paths.tier(name), Optional.of(tier), ifVersion.headers());
  }

  @Command(
      name = "diff",
      description =
          "Show what `tollgate tiers apply` would change in tiers and their tenants, without"
              + " changing it. Exit code 3 if anything would change.")
  int diff(
      @Parameters(paramLabel = "FILE", description = FILE) Path file, @Mixin IfVersion ifVersion) {
    Api api = tollgate.controlPlane();
    ObjectNode all = Json.object();
    ArrayNode documents = all.putArray("tiers");
    List<String> lines = new ArrayList<>();
    int exitCode = 0;
    for (Map.Entry<String, ObjectNode> tier : read(file, ifVersion).entrySet()) {
      String name = tier.getKey();
      DryRun dryRun = dryRun(api, name, tier.getValue(), ifVersion);
      documents.add(dryRun.document());
      if (lines.contains("")) {
        lines.add("");
      }
      lines.addAll(dryRun.lines());
      exitCode = Math.max(exitCode, dryRun.exitCode());
    }
    tollgate.print(all, lines);
    return exitCode;
  }

  @Command(name = "delete", description = "Delete a tier that no tenant has.")
  int delete(
      @Parameters(paramLabel = "TIER") String tier,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    if (dryRun) {
      return tollgate.preview(tier, "DELETE", Paths.tier(tier), Optional.empty(), ifVersion);
    }
    Api api = tollgate.controlPlane();
    tollgate.confirm(
        confirmation.isGiven(),
        () -> found(api.get(Paths.tier(tier)), tier),
        "Delete tier " + tier + "?",
        "delete tier " + tier);
    found(api.send("DELETE", Paths.tier(tier), Optional.empty(), ifVersion.headers()), tier);
    tollgate.print(Json.object(), List.of("Tier " + tier + " is deleted"));
    return 0;
  }

  @Command(
      name = "schedule",
      description =
          "Multiply the limits of a tier for a while. To list its windows, use `tollgate tiers show`.")
  int schedule(
      @Parameters(paramLabel = "TIER") String tier,
      @Mixin ScheduleOptions window,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return windows(tier).add(window, confirmation, dryRun, ifVersion);
  }

  @Command(
      name = "unschedule",
      description = "Cancel a window of a tier. If it is open, it closes.")
  int unschedule(
      @Parameters(paramLabel = "TIER") String tier,
      @Parameters(paramLabel = "SCHEDULE", description = "Its id in `tollgate tiers show`.")
          String id,
      @Mixin Confirmation confirmation,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return windows(tier).cancel(id, confirmation, dryRun, ifVersion);
  }

  private ScheduleOptions.Windows windows(String tier) {
    return new ScheduleOptions.Windows(
        tollgate, tier, "tier " + tier, Paths.tier(tier), missing(tier));
  }

  private Response found(Response response, String tier) {
    return tollgate.found(response, missing(tier));
  }

  /** Says that a tier does not exist, and what to do. */
  static String missing(String tier) {
    return "No tier named `" + tier + "`. List tiers with `tollgate tiers list`.";
  }

  private static List<String> changes(String name, JsonNode before, JsonNode after) {
    Map<String, JsonNode> old = Json.leaves(before);
    Map<String, JsonNode> now = Json.leaves(after);
    Set<String> paths = new TreeSet<>(old.keySet());
    paths.addAll(now.keySet());
    paths.removeIf(READ_ONLY_FIELDS.asMatchPredicate());
    List<String> lines = new ArrayList<>();
    for (String path : paths) {
      String from = Optional.ofNullable(old.get(path)).map(Json::text).orElse("(none)");
      String to = Optional.ofNullable(now.get(path)).map(Json::text).orElse("(none)");
      if (!from.equals(to)) {
        lines.add("  " + path + ": " + from + " → " + to);
      }
    }
    lines.add(0, name + (lines.isEmpty() ? ": unchanged" : ": changed"));
    return lines;
  }

  private SortedMap<String, ObjectNode> read(Path named, IfVersion ifVersion) {
    Path path = shell.file(named);
    String file = shell.shown(path).toString();
    SortedMap<String, ObjectNode> tiers = DesiredState.tiers(path, file);
    if (ifVersion.isPresent() && tiers.size() > 1) {
      throw Failure.usage(
          file + ": " + tiers.size() + " tiers (expected: one, since --if-version is given)");
    }
    return tiers;
  }
}
