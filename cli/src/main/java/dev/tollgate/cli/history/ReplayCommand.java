package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.history.MinutesReader.Reading;
import dev.tollgate.cli.history.MinutesReader.Tenant;
import dev.tollgate.cli.history.Replay.Minute;
import dev.tollgate.cli.history.Replay.Refusals;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
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
import picocli.CommandLine.Mixin;
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

  @Parameters(paramLabel = "TENANT", arity = "0..*", description = "The tenants.")
  private List<String> tenantIds = List.of();

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description =
          "All tenants of a tier, instead of TENANT, except those that override the limit.")
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

  @Mixin private MinutesReader history;

  /**
   * @param tollgate the deployment and the output
   * @param shell waits between requests
   */
  public ReplayCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    history = new MinutesReader(tollgate, shell);
  }

  @Override
  public Integer call() {
    check();
    Reading reading = history.open();
    SortedMap<String, Long> leftOut = new TreeMap<>();
    List<List<ObjectNode>> tenants =
        reading.read(tenantIds, tier, tenant -> replay(tenant, leftOut));
    List<ObjectNode> rows =
        tenants.stream()
            .flatMap(List::stream)
            .sorted(
                Comparator.comparingLong((ObjectNode row) -> row.path("most").asLong())
                    .reversed()
                    .thenComparing(row -> row.path("tenantId").asText()))
            .toList();
    Span span = reading.span();
    ObjectNode document = span.document();
    document.putArray("limits").addAll(rows);
    tier.ifPresent(name -> document.set("leftOut", Json.object(leftOut)));
    tollgate.print(
        document, tollgate.isCsv() ? TABLE.csv(rows) : lines(rows, tenants.size(), leftOut, span));
    return 0;
  }

  private void check() {
    if (tenantIds.isEmpty() != tier.isPresent()) {
      throw Failure.usage("Name tenants, or a tier with --tier.");
    }
    limits.forEach(
        (limit, value) -> {
          Failure.checkOption(
              List.of(PER_MINUTE, CONNECTIONS, MESSAGES).contains(limit), "--set", limit, EXPECTED);
          Failure.checkOption(
              value >= 1 && value <= MAX_LIMIT, "--set", limit + "=" + value, "1 to " + MAX_LIMIT);
        });
  }

  /**
   * The limits that would have refused something.
   *
   * @param leftOut counts the tenants that override a limit, by limit
   */
  private List<ObjectNode> replay(Tenant tenant, Map<String, Long> leftOut) {
    List<ObjectNode> rows = new ArrayList<>();
    new TreeMap<>(limits)
        .forEach(
            (limit, value) -> {
              if (tier.isPresent() && tenant.document().path("overrides").has(limit)) {
                leftOut.merge(limit, 1L, Long::sum);
                return;
              }
              List<JsonNode> minutes = tenant.minutes();
              Refusals refusals =
                  switch (limit) {
                    // A connection that another limit refused may have come to this one.
                    case PER_MINUTE -> Replay.byRate(connections(minutes), rate(value), value);
                    case CONNECTIONS -> Replay.byConnections(connections(minutes), value);
                    default -> Replay.byRate(messages(minutes), rate(value), value);
                  };
              if (!refusals.isNone()) {
                rows.add(row(tenant, limit, value, refusals));
              }
            });
    return rows;
  }

  private static ObjectNode row(Tenant tenant, String limit, long value, Refusals refusals) {
    ObjectNode row = Json.object().put("tenantId", tenant.id()).put("limit", limit);
    row.set("now", tenant.document().path("limits").path(limit));
    row.put("new", value)
        .put("least", refusals.least())
        .put("most", refusals.most())
        .put("minutes", refusals.minutes())
        .put("longestSeconds", refusals.longest().toSeconds());
    refusals.first().ifPresent(at -> row.put("first", at.toString()));
    refusals.last().ifPresent(at -> row.put("last", at.toString()));
    return row;
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
          new Minute(Tenant.taken(minute, "message"), 0, 0));
    }
    return all;
  }

  private List<String> lines(
      List<ObjectNode> rows, int tenants, SortedMap<String, Long> leftOut, Span span) {
    long refused = rows.stream().map(row -> row.path("tenantId")).distinct().count();
    List<String> lines = new ArrayList<>();
    lines.add(
        "%s: %d of %d tenants would have been refused something."
            .formatted(span, refused, tenants));
    leftOut.forEach(
        (limit, count) ->
            lines.add(
                "%s: %d of %d tenants are left out, because they override it."
                    .formatted(limit, count, tenants)));
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
