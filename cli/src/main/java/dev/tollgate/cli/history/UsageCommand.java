package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate usage}. */
@Command(
    name = "usage",
    description = {
      "Show how much of its limits a tenant used in each minute, and which limits would "
          + "fit. A limit is TIGHT if it refused connections or the 99.9th percentile is above 80"
          + " percent of it, and LARGE if a quarter of it would fit.",
      "Example: `tollgate usage acme --since 7d`."
    })
public final class UsageCommand implements Callable<Integer> {
  private static final int MAX_MARGIN = 1_000;

  private static final List<String> CSV =
      List.of(
          "tenantId",
          "limit",
          "value",
          "minutes",
          "p50",
          "p95",
          "p99",
          "p999",
          "max",
          "sharePercent",
          "fits",
          "refused",
          "verdict");
  private static final List<String> TEXT =
      List.of(
          "TENANT", "LIMIT", "VALUE", "MINUTES", "P50", "P95", "P99", "P99.9", "MAX", "SHARE %",
          "FITS", "REFUSED", "VERDICT");

  private final CommandEnvironment tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "TENANT", arity = "0..1", description = "The tenant.")
  private Optional<String> tenantId = Optional.empty();

  @Option(
      names = "--all",
      description =
          "Show the limits of all tenants that are not OK, those of the tenant that was refused most"
              + " first. A tenant takes one request, and one more for every 25 hours.")
  private boolean all;

  @Option(
      names = "--since",
      paramLabel = "TIME",
      defaultValue = "7d",
      description =
          "How long ago the first minute is, such as 12h or 31d, which is the most. Default: 7d.")
  private Duration since = Duration.ofDays(7);

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
    this.shell = shell;
  }

  @Override
  public Integer call() {
    check();
    Sender api = new PacedApi(tollgate.controlPlane(), Minutes.REQUESTS_PER_SECOND, shell);
    Span span = Minutes.complete(api, since);
    List<TenantUsage> tenants =
        tenantId.map(id -> List.of(ofOne(api, id, span))).orElseGet(() -> ofAll(api, span));
    tollgate.print(
        document(tenants, span),
        tollgate.isCsv() ? table(CSV, tenants).csv() : lines(tenants, span));
    return 0;
  }

  private void check() {
    if (tenantId.isPresent() == all) {
      throw Failure.usage("Name a tenant, or use --all.");
    }
    Minutes.check(since);
    if (margin < 0 || margin > MAX_MARGIN) {
      throw Failure.usage("--margin: %d (expected: 0 to %d)".formatted(margin, MAX_MARGIN));
    }
  }

  private TenantUsage ofOne(Sender api, String id, Span span) {
    Response tenant =
        tollgate.found(
            api.get(Paths.tenant(id)),
            "No tenant named `%s`. List tenants with `tollgate tenants list`.".formatted(id));
    return usage(api, tenant, id, span);
  }

  private List<TenantUsage> ofAll(Sender api, Span span) {
    List<String> ids =
        CurrentState.tenants(api).stream().map(tenant -> tenant.path("tenantId").asText()).toList();
    List<TenantUsage> tenants = new ArrayList<>();
    try (Progress progress = tollgate.progress()) {
      progress.start("Read", ids.size(), "tenants");
      for (String id : ids) {
        Response tenant = api.get(Paths.tenant(id));
        // A tenant that was removed meanwhile has no limits.
        if (tenant.status() != 404) {
          tenants.add(usage(api, tenant.orThrow(), id, span).withoutOk());
        }
        progress.step(true);
      }
    }
    return tenants.stream()
        .filter(tenant -> !tenant.usages().isEmpty())
        .sorted(
            Comparator.comparingLong(TenantUsage::refused)
                .reversed()
                .thenComparing(TenantUsage::tenantId))
        .toList();
  }

  private TenantUsage usage(Sender api, Response tenant, String id, Span span) {
    List<JsonNode> minutes = Minutes.of(api, id, span);
    return TenantUsage.of(tenant.json(), minutes, span.minutes(), margin);
  }

  private ObjectNode document(List<TenantUsage> tenants, Span span) {
    ObjectNode document =
        Json.object()
            .put("from", span.from().toString())
            .put("to", span.to().toString())
            .put("margin", margin);
    ArrayNode list = document.putArray("tenants");
    for (TenantUsage tenant : tenants) {
      ArrayNode limits = list.addObject().put("tenantId", tenant.tenantId()).putArray("limits");
      for (Usage usage : tenant.usages()) {
        ObjectNode limit =
            limits
                .addObject()
                .put("limit", usage.limit())
                .put("value", usage.value())
                .put("minutes", usage.minutes())
                .put("p50", usage.p50())
                .put("p95", usage.p95())
                .put("p99", usage.p99())
                .put("p999", usage.p999())
                .put("max", usage.max())
                .put("sharePercent", usage.sharePercent())
                .put("fits", usage.fits());
        usage.refused().ifPresent(refused -> limit.put("refused", refused));
        limit.put("verdict", usage.verdict().name());
      }
    }
    return document;
  }

  private static Table table(List<String> header, List<TenantUsage> tenants) {
    Table table = new Table(header.toArray(String[]::new));
    for (TenantUsage tenant : tenants) {
      for (Usage usage : tenant.usages()) {
        table.row(
            tenant.tenantId(),
            usage.limit(),
            usage.value().toPlainString(),
            Long.toString(usage.minutes()),
            Long.toString(usage.p50()),
            Long.toString(usage.p95()),
            Long.toString(usage.p99()),
            Long.toString(usage.p999()),
            Long.toString(usage.max()),
            Long.toString(usage.sharePercent()),
            Long.toString(usage.fits()),
            usage.refused().isPresent() ? Long.toString(usage.refused().getAsLong()) : "",
            usage.verdict().name());
      }
    }
    return table;
  }

  private List<String> lines(List<TenantUsage> tenants, Span span) {
    String when = "%s, margin %d %%".formatted(span, margin);
    if (tenants.isEmpty()) {
      return List.of(when + ": the limits of all tenants are OK.");
    }
    List<String> lines = new ArrayList<>(List.of(when, ""));
    lines.addAll(table(TEXT, tenants).lines());
    lines.add("");
    lines.add("Rates: minutes in which nothing happened count as 0.");
    lines.add("tenantConnections: only minutes with an admitted or refused connection are known.");
    if (!all) {
      tenants.stream()
          .flatMap(tenant -> tenant.unknown().stream())
          .map(unknown -> "Unknown: " + unknown + ".")
          .forEach(lines::add);
    }
    return lines;
  }
}
