package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.history.Replay.Minute;
import dev.tollgate.cli.history.Replay.Refusals;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate replay}. */
@Command(
    name = "replay",
    description = {
      "Show whom other limits would have refused in the minutes of the history, before you set them."
          + " A minute has no order, so there are two bounds.",
      "Example: `tollgate replay --tier gold --set tenantPerMinute=300 --since 7d`."
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final String PER_MINUTE = "tenantPerMinute";
  private static final String CONNECTIONS = "tenantConnections";
  private static final String MESSAGES = "messagesPerMinute";
  private static final String EXPECTED =
      "one of " + String.join(", ", PER_MINUTE, CONNECTIONS, MESSAGES);
  private static final long MAX_LIMIT = 1_000_000;
  private static final long MICROTOKENS = 1_000_000;
  private static final List<String> HEADER =
      List.of(
          "TENANT", "LIMIT", "NOW", "NEW", "LEAST", "MOST", "MINUTES", "LONGEST", "FIRST", "LAST");

  private final CommandEnvironment tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "TENANT", arity = "0..*", description = "The tenants.")
  private List<String> tenantIds = List.of();

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "All tenants of a tier, instead of TENANT. An override of a limit stays.")
  private Optional<String> tier = Optional.empty();

  @Option(
      names = "--set",
      paramLabel = "LIMIT=VALUE",
      required = true,
      description =
          "The limit that would have been, such as tenantPerMinute=300. May be repeated, for "
              + PER_MINUTE
              + ", "
              + CONNECTIONS
              + " and "
              + MESSAGES
              + ".")
  private Map<String, Long> limits = Map.of();

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "7d",
      description =
          "How long ago the first minute is, such as 12h or 31d, which is the most. Default: 7d.")
  private Duration since = Duration.ofDays(7);

  /**
   * @param tollgate the deployment and the output
   * @param shell waits between requests
   */
  public ReplayCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  /**
   * A limit of a tenant, replayed.
   *
   * @param now what the limit is
   * @param next what it would have been
   */
  private record Row(String tenantId, String limit, String now, long next, Refusals refusals) {}

  @Override
  public Integer call() {
    check();
    Sender api = new PacedApi(tollgate.controlPlane(), Minutes.REQUESTS_PER_SECOND, shell);
    Span span = Minutes.complete(api, since);
    List<JsonNode> tenants =
        tier.map(name -> CurrentState.tenants(api, new TreeMap<>(Map.of("tier", name))))
            .orElseGet(() -> named(api));
    List<Row> rows = new ArrayList<>();
    try (Progress progress = tollgate.progress()) {
      progress.start("Read", tenants.size(), "tenants");
      for (JsonNode tenant : tenants) {
        rows.addAll(replay(tenant, Minutes.of(api, tenant.path("tenantId").asText(), span)));
        progress.step(true);
      }
    }
    rows.sort(
        Comparator.comparingLong((Row row) -> row.refusals().most())
            .reversed()
            .thenComparing(Row::tenantId));
    tollgate.print(
        document(rows, span), tollgate.isCsv() ? table(rows).csv() : lines(rows, tenants, span));
    return 0;
  }

  private void check() {
    if (tenantIds.isEmpty() != tier.isPresent()) {
      throw Failure.usage("Name tenants, or a tier with --tier.");
    }
    limits.forEach(
        (limit, value) -> {
          if (!List.of(PER_MINUTE, CONNECTIONS, MESSAGES).contains(limit)) {
            throw Failure.usage("--set: %s (expected: %s)".formatted(limit, EXPECTED));
          }
          if (value < 1 || value > MAX_LIMIT) {
            throw Failure.usage(
                "--set: %s=%d (expected: 1 to %d)".formatted(limit, value, MAX_LIMIT));
          }
        });
    Minutes.check(since);
  }

  private List<JsonNode> named(Sender api) {
    return tenantIds.stream()
        .map(
            id ->
                tollgate
                    .found(
                        api.get(Paths.tenant(id)),
                        "No tenant named `%s`. List tenants with `tollgate tenants list`."
                            .formatted(id))
                    .json())
        .toList();
  }

  private List<Row> replay(JsonNode tenant, List<JsonNode> minutes) {
    List<Row> rows = new ArrayList<>();
    new TreeMap<>(limits)
        .forEach(
            (limit, value) -> {
              if (tier.isPresent() && tenant.path("overrides").has(limit)) {
                return;
              }
              Refusals refusals =
                  switch (limit) {
                    // A connection that another limit refused may have come to this one.
                    case PER_MINUTE -> Replay.byRate(connections(minutes), rate(value), value);
                    case CONNECTIONS -> Replay.byConnections(connections(minutes), value);
                    default -> Replay.byRate(messages(minutes), rate(value), value);
                  };
              if (!refusals.isNone()) {
                rows.add(
                    new Row(
                        tenant.path("tenantId").asText(),
                        limit,
                        tenant.path("limits").path(limit).asText(),
                        value,
                        refusals));
              }
            });
    return rows;
  }

  private static long rate(long perMinute) {
    return perMinute * MICROTOKENS;
  }

  /** A connection that was undone in the next minute counts in none. */
  private static SortedMap<Instant, Minute> connections(List<JsonNode> minutes) {
    SortedMap<Instant, Minute> all = new TreeMap<>();
    long undone = 0;
    for (int i = minutes.size() - 1; i >= 0; i--) {
      JsonNode minute = minutes.get(i);
      long admitted = minute.path("admitted").asLong() - undone;
      undone = Math.max(0, -admitted);
      all.put(
          Instant.parse(minute.path("at").asText()),
          new Minute(
              Math.max(0, admitted),
              minute.path("refused").asLong(),
              minute.path("peakConnections").asLong()));
    }
    return all;
  }

  private static SortedMap<Instant, Minute> messages(List<JsonNode> minutes) {
    SortedMap<Instant, Minute> all = new TreeMap<>();
    for (JsonNode minute : minutes) {
      all.put(
          Instant.parse(minute.path("at").asText()),
          new Minute(Minutes.taken(minute, "message"), 0, 0));
    }
    return all;
  }

  private ObjectNode document(List<Row> rows, Span span) {
    ObjectNode document =
        Json.object().put("from", span.from().toString()).put("to", span.to().toString());
    ArrayNode list = document.putArray("limits");
    for (Row row : rows) {
      ObjectNode one =
          list.addObject()
              .put("tenantId", row.tenantId())
              .put("limit", row.limit())
              .put("now", row.now())
              .put("new", row.next())
              .put("least", row.refusals().least())
              .put("most", row.refusals().most())
              .put("minutes", row.refusals().minutes())
              .put("longestSeconds", row.refusals().longest().toSeconds());
      row.refusals().first().ifPresent(at -> one.put("first", at.toString()));
      row.refusals().last().ifPresent(at -> one.put("last", at.toString()));
    }
    return document;
  }

  private static Table table(List<Row> rows) {
    Table table = new Table(HEADER.toArray(String[]::new));
    for (Row row : rows) {
      table.row(
          row.tenantId(),
          row.limit(),
          row.now(),
          Long.toString(row.next()),
          Long.toString(row.refusals().least()),
          Long.toString(row.refusals().most()),
          Long.toString(row.refusals().minutes()),
          Span.text(row.refusals().longest()),
          row.refusals().first().map(Instant::toString).orElse(""),
          row.refusals().last().map(Instant::toString).orElse(""));
    }
    return table;
  }

  private List<String> lines(List<Row> rows, List<JsonNode> tenants, Span span) {
    long refused = rows.stream().map(Row::tenantId).distinct().count();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s: %d of %d tenants would have been refused something."
            .formatted(span, refused, tenants.size()));
    if (!rows.isEmpty()) {
      lines.add("");
      lines.addAll(table(rows).lines());
      lines.add("");
      lines.add(
          "LEAST and MOST: the bounds of the connections, or messages, that would have been refused.");
      lines.add("MINUTES: in how many minutes at most, and LONGEST without a break.");
    }
    return lines;
  }
}
