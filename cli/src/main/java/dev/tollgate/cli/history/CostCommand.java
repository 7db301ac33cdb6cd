package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.history.MinutesReader.Reading;
import dev.tollgate.cli.history.MinutesReader.Tenant;
import dev.tollgate.cli.history.UnitCosts.Cost;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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
  private static final RowTable TABLE =
      new RowTable(
          "tenantId=TENANT",
          "minutes=MINUTES",
          "connections=CONNECTIONS",
          "refusals=REFUSALS",
          "messages=MESSAGES",
          "fills=FILLS",
          "history=HISTORY",
          "sum=SUM",
          "savedByHibernation=SAVED");

  private final CommandEnvironment tollgate;
  private final UnitCosts units = new UnitCosts();

  @Parameters(paramLabel = "TENANT", arity = "0..1", description = "The tenant.")
  private Optional<String> tenantId = Optional.empty();

  @Option(
      names = "--all",
      description =
          "All tenants, the most expensive first. A tenant takes two requests, and one more for every"
              + " 25 hours.")
  private boolean all;

  @Option(
      names = "--tier",
      paramLabel = "TIER",
      description = "All tenants of a tier, the most expensive first.")
  private Optional<String> tier = Optional.empty();

  @Mixin private MinutesReader history;

  /**
   * @param tollgate the deployment and the output
   * @param shell waits between requests
   */
  public CostCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    history = new MinutesReader(tollgate, shell);
  }

  @Override
  public Integer call() {
    if ((tenantId.isPresent() ? 1 : 0) + (tier.isPresent() ? 1 : 0) + (all ? 1 : 0) != 1) {
      throw Failure.usage("Name a tenant, or a tier with --tier, or use --all.");
    }
    Reading reading = history.open();
    Span span = reading.span();
    List<Row> rows =
        reading
            .read(
                tenantId.stream().toList(),
                tier,
                tenant -> row(tenant, reading.age(tenant).orElse(span.minutes())))
            .stream()
            .sorted(
                Comparator.comparingLong((Row row) -> row.cost().sum())
                    .reversed()
                    .thenComparing(Row::tenantId))
            .toList();
    ObjectNode document = span.document();
    List<JsonNode> tenants = rows.stream().map(CostCommand::document).toList();
    document.putArray("tenants").addAll(tenants);
    ObjectNode sum = put(Json.object(), rows.stream().map(Row::cost).reduce(Cost.NONE, Cost::plus));
    document.set(ALL, sum);
    tollgate.print(
        document, tollgate.isCsv() ? TABLE.csv(tenants) : lines(rows, tenants, sum, span));
    return 0;
  }

  /**
   * What a tenant costs in a month.
   *
   * @param minutes the number of minutes that the pace is of
   */
  private record Row(String tenantId, long minutes, Cost cost) {}

  private Row row(Tenant tenant, long minutes) {
    return new Row(
        tenant.id(),
        minutes,
        units.of(tenant.document(), tenant.minutes(), minutes).in(MONTH_MINUTES, minutes));
  }

  private static JsonNode document(Row row) {
    return put(
        Json.object().put("tenantId", row.tenantId()).put("minutes", row.minutes()), row.cost());
  }

  private static ObjectNode put(ObjectNode document, Cost cost) {
    document.set("connections", dollars(cost.connections()));
    document.set("refusals", dollars(cost.refusals()));
    document.set("messages", dollars(cost.messages()));
    document.set("fills", dollars(cost.fills()));
    document.set("history", dollars(cost.history()));
    document.set("sum", dollars(cost.sum()));
    document.set("savedByHibernation", dollars(cost.saved()));
    return document;
  }

  private static JsonNode dollars(long nanodollars) {
    return DecimalNode.valueOf(
        BigDecimal.valueOf(nanodollars, NANODOLLARS).setScale(4, RoundingMode.HALF_UP));
  }

  private static List<String> lines(
      List<Row> rows, List<JsonNode> tenants, ObjectNode sum, Span span) {
    List<JsonNode> shown = new ArrayList<>(tenants);
    if (rows.size() > 1) {
      shown.add(sum.deepCopy().put("tenantId", ALL));
    }
    List<String> lines =
        new ArrayList<>(
            List.of("Dollars a month at the pace of %s, at list prices:".formatted(span), ""));
    lines.addAll(TABLE.text(shown));
    lines.add("");
    lines.add(
        "MINUTES: how many minutes the pace is of. Those before the onboarding do not count.");
    if (rows.stream().anyMatch(row -> row.minutes() < Usage.MIN_MINUTES)) {
      lines.add("Fewer than %d minutes are too few for an estimate.".formatted(Usage.MIN_MINUTES));
    }
    lines.add(
        "SAVED: what hibernation saves. Messages count as if each came alone; in batches of ten");
    lines.add(
        "they cost about half. Not in it: open sockets, your message handler, and the stack.");
    return lines;
  }
}
