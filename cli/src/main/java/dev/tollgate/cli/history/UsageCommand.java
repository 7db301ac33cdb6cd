package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.history.MinutesReader.Reading;
import dev.tollgate.cli.history.Usage.Verdict;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate usage}. */
@Command(
    name = "usage",
    description = {
      "Show how much of its limits a tenant used in each minute, and which limits would "
          + "fit. A limit is TIGHT if it refused connections or the 99.9th percentile is above 80"
          + " percent of it, and LARGE if a quarter of it would fit. Fewer"
          + " than 60 minutes without a refusal are too few to tell.",
      "Example: `tollgate usage acme --since 7d`."
    })
public final class UsageCommand implements Callable<Integer> {
  private static final int MAX_MARGIN = 1_000;

  private static final RowTable TABLE =
      new RowTable(
          "tenantId=TENANT",
          "limit=LIMIT",
          "value=VALUE",
          "minutes=MINUTES",
          "p50=P50",
          "p95=P95",
          "p99=P99",
          "p999=P99.9",
          "max=MAX",
          "sharePercent=SHARE %",
          "fits=FITS",
          "refused=REFUSED",
          "verdict=VERDICT");

  private final CommandEnvironment tollgate;

  @Parameters(paramLabel = "TENANT", arity = "0..1", description = "The tenant.")
  private Optional<String> tenantId = Optional.empty();

  @Option(
      names = "--all",
      description =
          "Show the limits of all tenants that are TIGHT or LARGE, those of the tenant that was"
              + " refused most first. A tenant takes two requests, and one more for every 25 hours.")
  private boolean all;

  @Mixin private MinutesReader history;

  @Option(
      names = "--margin",
      paramLabel = "PERCENT",
      defaultValue = "20",
      description =
          "What a limit that fits has above the 99.9th percentile, in percent. Default: ${DEFAULT-VALUE}.")
  private int margin = 20;

  /**
   * @param tollgate the deployment and the output
   * @param shell waits between requests
   */
  public UsageCommand(CommandEnvironment tollgate, Shell shell) {
    this.tollgate = tollgate;
    history = new MinutesReader(tollgate, shell);
  }

  @Override
  public Integer call() {
    if (tenantId.isPresent() == all) {
      throw Failure.usage("Name a tenant, or use --all.");
    }
    Failure.checkOption(
        margin >= 0 && margin <= MAX_MARGIN, "--margin", margin, "0 to " + MAX_MARGIN);
    Reading reading = history.open();
    List<TenantUsage> tenants =
        reading.read(
            tenantId.stream().toList(),
            Optional.empty(),
            tenant -> TenantUsage.of(tenant, reading.age(tenant), margin));
    print(all ? unfitting(tenants) : tenants, tenants, reading.span());
    return 0;
  }

  private static List<TenantUsage> unfitting(List<TenantUsage> tenants) {
    return tenants.stream()
        .map(TenantUsage::unfitting)
        .filter(tenant -> !tenant.usages().isEmpty())
        .sorted(
            Comparator.comparingLong(TenantUsage::refused)
                .reversed()
                .thenComparing(TenantUsage::tenantId))
        .toList();
  }

  private void print(List<TenantUsage> shown, List<TenantUsage> tenants, Span span) {
    ObjectNode document = span.document().put("margin", margin);
    ArrayNode list = document.putArray("tenants");
    List<JsonNode> rows = new ArrayList<>();
    for (TenantUsage tenant : shown) {
      ArrayNode limits = list.addObject().put("tenantId", tenant.tenantId()).putArray("limits");
      for (Usage usage : tenant.usages()) {
        ObjectNode limit = limit(usage);
        limits.add(limit);
        rows.add(Json.object().put("tenantId", tenant.tenantId()).setAll(limit));
      }
    }
    tollgate.print(document, tollgate.isCsv() ? TABLE.csv(rows) : lines(rows, tenants, span));
  }

  private static ObjectNode limit(Usage usage) {
    ObjectNode limit =
        Json.object()
            .put("limit", usage.limit())
            .put("value", usage.value())
            .put("minutes", usage.minutes())
            .put("p50", usage.p50())
            .put("p95", usage.p95())
            .put("p99", usage.p99())
            .put("p999", usage.p999())
            .put("max", usage.max())
            .put("sharePercent", usage.sharePercent());
    if (usage.verdict() != Verdict.TOO_FEW_MINUTES) {
      limit.put("fits", usage.fits());
    }
    usage.refused().ifPresent(refused -> limit.put("refused", refused));
    return limit.put("verdict", usage.verdict().name());
  }

  private List<String> lines(List<JsonNode> rows, List<TenantUsage> tenants, Span span) {
    List<String> lines = new ArrayList<>(List.of("%s, margin %d %%".formatted(span, margin), ""));
    if (rows.isEmpty() && all) {
      lines.add("No limit is TIGHT or LARGE.");
    } else if (!rows.isEmpty()) {
      lines.addAll(TABLE.text(rows));
      lines.add("");
      lines.add("Rates: minutes since the onboarding in which nothing happened count as 0.");
      lines.add(
          "tenantConnections: only minutes with an admitted or refused connection are known.");
    }
    long tooFew = tenants.stream().filter(TenantUsage::hasTooFewMinutes).count();
    if (all && tooFew > 0) {
      lines.add(
          "Tenants with limits of which fewer than %d minutes are known: %d of %d."
              .formatted(Usage.MIN_MINUTES, tooFew, tenants.size()));
    }
    if (!all) {
      tenants.stream()
          .flatMap(tenant -> tenant.unknown().stream())
          .map(unknown -> "Unknown: " + unknown + ".")
          .forEach(lines::add);
    }
    return lines;
  }
}
