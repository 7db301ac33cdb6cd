package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.DryRun;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.IfVersion;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tiers, through the control plane. */
@Command(name = "tiers", description = "Look at the tiers and change them.")
public final class Tiers {
  /** The limits that a tier sets and a tenant may override. */
  public static final List<String> LIMITS =
      List.of(
          "tenantPerMinute",
          "sessionPerMinute",
          "connectionsPerSession",
          "tenantConnections",
          "sessionTTL",
          "messagesPerMinute",
          "sessionLifetime",
          "sessionsPerSubject");

  /** Limits that a tier need not set: the control plane has a standard value for them. */
  public static final Set<String> OPTIONAL_LIMITS = Set.of("sessionLifetime", "sessionsPerSubject");

  /** What the control plane counts up itself. */
  private static final Pattern NOT_THE_USERS = Pattern.compile("version|rollout\\..*");

  private final Tollgate tollgate;
  private final Shell shell;

  Tiers(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Command(name = "list", description = "List the tiers with their limits.")
  int list() {
    Answer answer = tollgate.controlPlane().get("/tiers").orFail();
    List<String> header = new ArrayList<>(List.of("TIER", "ISOLATION"));
    header.addAll(LIMITS);
    Table table = new Table(header.toArray(String[]::new));
    for (JsonNode tier : answer.json().path("tiers")) {
      List<String> row = new ArrayList<>();
      row.add(Json.text(tier, "tier").orElse(""));
      row.add(Json.text(tier, "isolation").orElse(""));
      LIMITS.forEach(limit -> row.add(Json.text(tier.path("limits"), limit).orElse("")));
      table.row(row.toArray(String[]::new));
    }
    tollgate.print(answer, table.lines());
    return 0;
  }

  @Command(name = "show", description = "Show a tier; with --json in the form that apply takes.")
  int show(@Parameters(paramLabel = "TIER") String tier) {
    Answer answer = tollgate.controlPlane().get(path(tier)).orFail();
    Table table = new Table("", "");
    Json.leaves(answer.json()).forEach((name, value) -> table.row(name, Json.text(value)));
    tollgate.print(answer, table.lines());
    return 0;
  }

  @Command(
      name = "apply",
      description = "Create or change tiers as a file says, and tell what has changed.")
  int apply(
      @Parameters(paramLabel = "FILE", description = "JSON: one tier, or a list of tiers.")
          Path file,
      @Option(names = "--dry-run", description = DryRun.DESCRIPTION) boolean dryRun,
      @Mixin IfVersion ifVersion) {
    return dryRun ? diff(file, ifVersion) : apply(file, ifVersion);
  }

  private int apply(Path file, IfVersion ifVersion) {
    List<ObjectNode> tiers = read(shell.file(file), ifVersion);
    Api api = tollgate.controlPlane();
    ObjectNode all = Json.object();
    ArrayNode applied = all.putArray("tiers");
    List<String> lines = new ArrayList<>();
    try {
      for (ObjectNode tier : tiers) {
        String name = tier.path("tier").asText();
        Answer before = api.get(path(name));
        if (before.status() != 404) {
          before.orFail();
        }
        Answer put = api.send("PUT", path(name), Optional.of(tier), ifVersion.headers()).orFail();
        JsonNode after = put.json();
        applied.add(after);
        lines.addAll(
            before.status() == 404
                ? List.of(name + ": created")
                : changes(name, before.json(), after));
        if (put.status() == 202) {
          lines.add("  its tenants follow within minutes");
        }
      }
    } finally {
      // What is done is done, even if a later tier is refused.
      if (!applied.isEmpty()) {
        tollgate.print(all, lines);
      }
    }
    return 0;
  }

  @Command(
      name = "diff",
      description =
          "Tell what apply would change, of the tiers and of their tenants, and change nothing."
              + " Exit code 3 if anything would.")
  int diff(
      @Parameters(paramLabel = "FILE", description = "JSON: one tier, or a list of tiers.")
          Path file,
      @Mixin IfVersion ifVersion) {
    Api api = tollgate.controlPlane();
    ObjectNode all = Json.object();
    ArrayNode documents = all.putArray("tiers");
    List<String> lines = new ArrayList<>();
    int exitCode = 0;
    for (ObjectNode tier : read(shell.file(file), ifVersion)) {
      String name = tier.path("tier").asText();
      DryRun dryRun = DryRun.ask(api, name, "PUT", path(name), tier, ifVersion.headers());
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

  private static List<String> changes(String name, JsonNode before, JsonNode after) {
    Map<String, JsonNode> old = Json.leaves(before);
    Map<String, JsonNode> now = Json.leaves(after);
    Set<String> paths = new TreeSet<>(old.keySet());
    paths.addAll(now.keySet());
    paths.removeIf(NOT_THE_USERS.asMatchPredicate());
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

  private static List<ObjectNode> read(Path file, IfVersion ifVersion) {
    List<ObjectNode> tiers = read(file);
    if (ifVersion.isSaid() && tiers.size() > 1) {
      throw Failure.usage(
          file + ": " + tiers.size() + " tiers (expected: one, since --if-version is given)");
    }
    return tiers;
  }

  private static List<ObjectNode> read(Path file) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw Failure.unreadable(file, e);
    }
    JsonNode document = Json.read(file.toString(), text);
    JsonNode list = document.has("tiers") ? document.path("tiers") : document;
    List<ObjectNode> tiers = new ArrayList<>();
    for (JsonNode tier : list.isArray() ? list : List.of(list)) {
      if (!(tier instanceof ObjectNode object) || !tier.path("tier").isTextual()) {
        throw Failure.usage(
            file + ": " + Json.write(tier) + " (expected: an object with a field \"tier\")");
      }
      tiers.add(object);
    }
    return tiers;
  }

  public static String path(String tier) {
    return "/tiers/" + Api.encode(tier);
  }
}
