package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.DesiredState;
import dev.tollgate.cli.history.MinutesReader.Reading;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate replay}. */
@Command(
    name = "replay",
    description = {
      "Show whom other limits would have refused in the minutes of the history, before you set them."
          + " A minute has no order, so there are two bounds. Only limits that would change are replayed.",
      "Example: `tollgate replay --tier gold --set tenantPerMinute=300 --since 7d`."
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final String PER_MINUTE = "tenantPerMinute";
  private static final String CONNECTIONS = "tenantConnections";
  private static final String MESSAGES = "messagesPerMinute";
  private static final String EXPECTED =
      "one of " + String.join(", ", PER_MINUTE, CONNECTIONS, MESSAGES);
  private static final long MAX_LIMIT = 1_000_000;
  private static final RowTable TABLE =
      new RowTable(
          "tenantId=TENANT",
          "limit=LIMIT",
          "now=NOW",
          "new=NEW",
          "least=LEAST",
          "most=MOST",
          "minutes=MINUTES",
          "longestSeconds=LONGEST",
          "first=FIRST",
          "last=LAST");

  private final CommandEnvironment tollgate;
  private final Shell shell;

  @Parameters(
      paramLabel = "TENANT",
      arity = "0..*",
      description =
          "The tenants; or instead one file with a section tiers, as for `tollgate tiers apply`, such"
              + " as gold.yaml. A name with a dot or a slash is a file.")
  private List<String> names = List.of();

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description =
          "All tenants of a tier, instead of TENANT, except those that override the limit.")
  private Optional<String> tier = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "LIMIT=VALUE",
      description =
          "The limit that would have been enforced, such as tenantPerMinute=300. May be repeated, for "
              + PER_MINUTE
              + ", "
              + CONNECTIONS
              + " and "
              + MESSAGES
              + ".")
  private Map<String, Long> limits = Map.of();

  @Mixin private MinutesReader history;

  /**
   * @param tollgate the deployment and the output
   * @param shell waits between requests
   */
  public ReplayCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
    history = new MinutesReader(tollgate, shell);
  }

  @Override
  public Integer call() {
    check();
    DryRuns runs;
    try (Progress progress = tollgate.progress()) {
      runs = new DryRuns(history.open(), progress);
      if (isFile()) {
        Path file = shell.file(Path.of(names.get(0)));
        DesiredState.tiers(file, shell.shown(file).toString())
            .forEach((name, definition) -> runs.replay("PUT", Paths.tier(name), definition));
      } else {
        tier.ifPresent(name -> replayTier(runs, name));
        names.forEach(name -> replayTenant(runs, name));
      }
    }
    List<ObjectNode> rows = runs.sortedRows();
    ObjectNode document = runs.span.deepCopy();
    document.putArray("limits").addAll(rows);
    if (tier.isPresent() || isFile()) {
      document.set("leftOut", Json.object(runs.leftOut));
    }
    document.set("notKnown", Json.object(runs.notKnown));
    tollgate.print(document, tollgate.isCsv() ? TABLE.csv(rows) : lines(rows, runs));
    return 0;
  }

  private boolean isFile() {
    return names.stream().anyMatch(name -> name.contains(".") || name.contains("/"));
  }

  private void check() {
    if (isFile()) {
      if (names.size() > 1 || tier.isPresent() || !limits.isEmpty()) {
        throw Failure.usage(
            "Name a file alone, without --tier and --set: it has tiers and limits.");
      }
      return;
    }
    if (names.isEmpty() != tier.isPresent()) {
      throw Failure.usage("Name tenants, or a tier with --tier, or a file of tiers.");
    }
    if (limits.isEmpty()) {
      throw Failure.usage("Name a limit with --set, such as --set tenantPerMinute=300.");
    }
    limits.forEach(
        (limit, value) -> {
          Failure.checkOption(
              List.of(PER_MINUTE, CONNECTIONS, MESSAGES).contains(limit), "--set", limit, EXPECTED);
          Failure.checkOption(
              value >= 1 && value <= MAX_LIMIT, "--set", limit + "=" + value, "1 to " + MAX_LIMIT);
        });
  }

  private void replayTier(DryRuns runs, String name) {
    ObjectNode definition =
        tollgate
            .found(
                runs.reading.api().get(Paths.tier(name)),
                "No tier named `%s`. List tiers with `tollgate tiers list`.".formatted(name))
            .json()
            .deepCopy();
    runs.addUnchanged(name, definition, limits);
    limits.forEach(definition.withObjectProperty("limits")::put);
    if (definition.path("modes") instanceof ObjectNode modes) {
      modes.remove(limits.keySet());
    }
    runs.replay("PUT", Paths.tier(name), definition);
  }

  private void replayTenant(DryRuns runs, String id) {
    JsonNode tenant = runs.reading.found(runs.reading.api().get(Paths.tenant(id)), id).json();
    runs.addUnchanged(id, tenant, limits);
    ObjectNode change = Json.object();
    ObjectNode overrides =
        change.putObject("overrides").setAll((ObjectNode) tenant.path("overrides").deepCopy());
    limits.forEach(
        (limit, value) -> {
          overrides.put(limit, value);
          if (tenant.path("modes").has(limit)) {
            overrides.withObjectProperty("modes").put(limit, "ENFORCE");
          }
        });
    runs.replay("PATCH", Paths.tenant(id), change);
  }

  /** Dry runs, and what their pages tell. */
  private static final class DryRuns {
    private final List<ObjectNode> rows = new ArrayList<>();
    private final SortedMap<String, Long> leftOut = new TreeMap<>();
    private final SortedMap<String, Long> notKnown = new TreeMap<>();
    private final List<String> unchanged = new ArrayList<>();
    private final ObjectNode span = Json.object();
    private final Reading reading;
    private final Progress progress;
    private long tenants;

    private DryRuns(Reading reading, Progress progress) {
      this.reading = reading;
      this.progress = progress;
    }

    void replay(String method, String path, JsonNode change) {
      Map<String, String> query = new LinkedHashMap<>();
      query.put("dryRun", "true");
      query.put("replay", Span.text(Duration.ofMinutes(reading.span().minutes())));
      new PageIterator(
              cursor -> {
                query.putAll(cursor);
                return reading
                    .api()
                    .send(method, path + Api.suffix(query), Optional.of(change), Map.of())
                    .orThrow()
                    .json();
              })
          .forEachRemaining(this::add);
    }

    void add(JsonNode page) {
      JsonNode replay = page.path("replay");
      if (span.isEmpty()) {
        span.set("from", replay.path("from"));
        span.set("to", replay.path("to"));
      }
      replay.path("limits").forEach(row -> rows.add((ObjectNode) row));
      count(replay.path("leftOut"), leftOut);
      count(replay.path("notKnown"), notKnown);
      tenants += page.path("totals").path("tenants").asLong();
      progress.show("Replayed %,d tenants".formatted(tenants));
    }

    private static void count(JsonNode byLimit, SortedMap<String, Long> counts) {
      byLimit
          .properties()
          .forEach(each -> counts.merge(each.getKey(), each.getValue().asLong(), Long::sum));
    }

    /** Notes the limits that are enforced with these values already. */
    void addUnchanged(String name, JsonNode document, Map<String, Long> limits) {
      new TreeMap<>(limits)
          .forEach(
              (limit, value) -> {
                if (document.path("limits").path(limit).asLong() == value
                    && !document.path("modes").has(limit)) {
                  unchanged.add(
                      "%s: %s is %d already, so it is not replayed.".formatted(name, limit, value));
                }
              });
    }

    List<ObjectNode> sortedRows() {
      return rows.stream()
          .sorted(
              Comparator.comparingLong((ObjectNode row) -> row.path("most").asLong())
                  .reversed()
                  .thenComparing(row -> row.path("tenantId").asText()))
          .toList();
    }
  }

  private static List<String> lines(List<ObjectNode> rows, DryRuns runs) {
    long refused = rows.stream().map(row -> row.path("tenantId")).distinct().count();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s to %s: %d of %d tenants would have been refused something."
            .formatted(
                runs.span.path("from").asText(),
                runs.span.path("to").asText(),
                refused,
                runs.tenants));
    lines.addAll(runs.unchanged);
    runs.leftOut.forEach(
        (limit, count) ->
            lines.add(
                "%s: %d of %d tenants are left out, because they override it."
                    .formatted(limit, count, runs.tenants)));
    runs.notKnown.forEach(
        (limit, count) ->
            lines.add(
                "%s: not known of %d of %d tenants, because the history does not have their messages."
                    .formatted(limit, count, runs.tenants)));
    if (!rows.isEmpty()) {
      lines.add("");
      lines.addAll(TABLE.text(rows));
      lines.add("");
      lines.add(
          "LEAST and MOST: the bounds of the connections, or messages, that would have been refused.");
      lines.add("MINUTES: in how many minutes at most, and LONGEST without a break.");
    }
    return lines;
  }
}
