package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.history.UnitCosts.Cost;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate cost}. */
@Command(
    name = "cost",
    description = {
      "Estimate what tenants cost on AWS in a month, from the minutes of the history and list prices"
          + " of us-east-1. Open sockets, your message handler and the stack itself are not in it.",
      "Example: `tollgate cost --all --since 7d`."
    })
public final class CostCommand implements Callable<Integer> {
  private static final long MONTH_MINUTES = Duration.ofDays(365).dividedBy(12).toMinutes();
  private static final int NANODOLLARS = 9;
  private static final String ALL = "all";

  private final CommandEnvironment tollgate;
  private final Shell shell;
  private final UnitCosts units = new UnitCosts();

  @Parameters(paramLabel = "TENANT", arity = "0..1", description = "The tenant.")
  private Optional<String> tenantId = Optional.empty();

  @Option(
      names = "--all",
      description =
          "All tenants, the most expensive first. A tenant takes one request, and one more for every 25"
              + " hours.")
  private boolean all;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "All tenants of a tier, the most expensive first.")
  private Optional<String> tier = Optional.empty();

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
  public CostCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if ((tenantId.isPresent() ? 1 : 0) + (tier.isPresent() ? 1 : 0) + (all ? 1 : 0) != 1) {
      throw Failure.usage("Name a tenant, or a tier with --tier, or use --all.");
    }
    Minutes.check(since);
    Sender api = new PacedApi(tollgate.controlPlane(), Minutes.REQUESTS_PER_SECOND, shell);
    Span span = Minutes.complete(api, since);
    Map<String, Cost> costs = new LinkedHashMap<>();
    try (Progress progress = tollgate.progress()) {
      List<String> ids = ids(api);
      progress.start("Read", ids.size(), "tenants");
      for (String id : ids) {
        read(api, id)
            .ifPresent(tenant -> costs.put(id, cost(tenant, Minutes.of(api, id, span), span)));
        progress.step(true);
      }
    }
    List<Map.Entry<String, Cost>> rows = new ArrayList<>(costs.entrySet());
    rows.sort(
        Comparator.comparingLong((Map.Entry<String, Cost> row) -> row.getValue().sum())
            .reversed()
            .thenComparing(Map.Entry::getKey));
    tollgate.print(document(rows, span), tollgate.isCsv() ? table(rows).csv() : lines(rows, span));
    return 0;
  }

  private List<String> ids(Sender api) {
    return tenantId
        .map(List::of)
        .orElseGet(
            () ->
                CurrentState.tenants(
                        api,
                        new TreeMap<>(tier.map(name -> Map.of("tier", name)).orElseGet(Map::of)))
                    .stream()
                    .map(tenant -> tenant.path("tenantId").asText())
                    .toList());
  }

  /** The document of a tenant; empty if it was removed meanwhile. */
  private Optional<JsonNode> read(Sender api, String id) {
    Response response = api.get(Paths.tenant(id));
    if (tenantId.isPresent()) {
      tollgate.found(
          response,
          "No tenant named `%s`. List tenants with `tollgate tenants list`.".formatted(id));
    }
    return response.status() == 404 ? Optional.empty() : Optional.of(response.orThrow().json());
  }

  private Cost cost(JsonNode tenant, List<JsonNode> minutes, Span span) {
    return units.of(tenant, minutes, span.minutes()).in(MONTH_MINUTES, span.minutes());
  }

  private ObjectNode document(List<Map.Entry<String, Cost>> rows, Span span) {
    ObjectNode document =
        Json.object().put("from", span.from().toString()).put("to", span.to().toString());
    ArrayNode tenants = document.putArray("tenants");
    rows.forEach(row -> put(tenants.addObject().put("tenantId", row.getKey()), row.getValue()));
    put(document.putObject(ALL), sum(rows));
    return document;
  }

  private static void put(ObjectNode document, Cost cost) {
    document
        .put("connections", dollars(cost.connections()))
        .put("refusals", dollars(cost.refusals()))
        .put("messages", dollars(cost.messages()))
        .put("fills", dollars(cost.fills()))
        .put("history", dollars(cost.history()))
        .put("sum", dollars(cost.sum()))
        .put("savedByHibernation", dollars(cost.saved()));
  }

  private static Cost sum(List<Map.Entry<String, Cost>> rows) {
    return rows.stream().map(Map.Entry::getValue).reduce(Cost.NONE, Cost::plus);
  }

  private static BigDecimal dollars(long nanodollars) {
    return BigDecimal.valueOf(nanodollars, NANODOLLARS).setScale(4, RoundingMode.HALF_UP);
  }

  private static Table table(List<Map.Entry<String, Cost>> rows) {
    Table table =
        new Table(
            "TENANT", "CONNECTIONS", "REFUSALS", "MESSAGES", "FILLS", "HISTORY", "SUM", "SAVED");
    rows.forEach(row -> add(table, row.getKey(), row.getValue()));
    if (rows.size() > 1) {
      add(table, ALL, sum(rows));
    }
    return table;
  }

  private static void add(Table table, String name, Cost cost) {
    table.row(
        name,
        dollars(cost.connections()).toPlainString(),
        dollars(cost.refusals()).toPlainString(),
        dollars(cost.messages()).toPlainString(),
        dollars(cost.fills()).toPlainString(),
        dollars(cost.history()).toPlainString(),
        dollars(cost.sum()).toPlainString(),
        dollars(cost.saved()).toPlainString());
  }

  private static List<String> lines(List<Map.Entry<String, Cost>> rows, Span span) {
    List<String> lines =
        new ArrayList<>(
            List.of("Dollars a month at the pace of %s, at list prices:".formatted(span), ""));
    lines.addAll(table(rows).lines());
    lines.add("");
    lines.add(
        "SAVED: what hibernation saves. Messages count as if each came alone; in batches of ten");
    lines.add(
        "they cost about half. Not in it: open sockets, your message handler, and the stack.");
    return lines;
  }
}
