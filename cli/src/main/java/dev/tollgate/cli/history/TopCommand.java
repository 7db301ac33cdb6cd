package dev.tollgate.cli.history;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code tollgate top}. */
@Command(
    name = "top",
    description = {
      "Rank the tenants that were refused, admitted, connected or served most in the last "
          + "minutes, or in minutes of the last 26 hours.",
      "Example: `tollgate top --sort tokens --window 15m`; `tollgate top --to 2026-03-12T14:15:00Z`."
    })
public final class TopCommand implements Callable<Integer> {
  private static final List<String> COUNTS =
      List.of("refused", "would_refuse", "admitted", "connections", "tokens");
  private static final int MAX_MINUTES = 15;
  private static final int MAX_TENANTS = 100;

  private final CommandEnvironment tollgate;

  @Option(
      names = "--sort",
      paramLabel = "COUNT",
      defaultValue = "refused",
      description =
          "What to rank by: refused or admitted connections, would_refuse (those that observed limits"
              + " would have refused), connections (their peak), or tokens taken. Tenants with none of it are left out. Default: ${DEFAULT-VALUE}.")
  private String sort = "refused";

  @Option(
      names = "--window",
      paramLabel = "TIME",
      defaultValue = "5m",
      description = "How many minutes, up to 15. Default: ${DEFAULT-VALUE}.")
  private Duration window = Duration.ofMinutes(5);

  @Option(
      names = "--to",
      paramLabel = "INSTANT",
      description = "Where the minutes end, in the last 26 hours. A full minute. Default: now.")
  private Optional<Instant> to = Optional.empty();

  @Option(
      names = {"-n", "--limit"},
      paramLabel = "TENANTS",
      defaultValue = "20",
      description = "The most tenants to show, up to 100. Default: ${DEFAULT-VALUE}.")
  private int limit = 20;

  /**
   * @param tollgate the deployment and the output
   */
  public TopCommand(CommandEnvironment tollgate) {
    this.tollgate = tollgate;
  }

  @Override
  public Integer call() {
    Failure.checkOption(
        COUNTS.contains(sort), "--sort", sort, "one of " + String.join(", ", COUNTS));
    Failure.checkOption(
        window.toMinutes() <= MAX_MINUTES,
        "--window",
        Span.text(window),
        "at most " + MAX_MINUTES + "m");
    to.ifPresent(at -> HistoryCommand.checkMinute("--to", at));
    Failure.checkOption(
        limit >= 1 && limit <= MAX_TENANTS, "--limit", limit, "1 to " + MAX_TENANTS);
    Map<String, String> query = new LinkedHashMap<>();
    query.put("sort", sort);
    query.put("window", Span.text(window));
    query.put("limit", Integer.toString(limit));
    to.ifPresent(end -> query.put("to", end.toString()));
    Response response = tollgate.controlPlane().get("/fleet/tenants" + Api.suffix(query)).orThrow();
    JsonNode ranking = response.json();
    tollgate.print(
        response,
        tollgate.isCsv() ? CountTable.csv(ranking.path("tenants"), "tenantId") : lines(ranking));
    return 0;
  }

  private List<String> lines(JsonNode ranking) {
    JsonNode tenants = ranking.path("tenants");
    long active = ranking.path("activeTenants").asLong();
    List<String> lines = new ArrayList<>();
    if (!tenants.isEmpty()) {
      lines.addAll(CountTable.text(tenants, "TENANT", "tenantId"));
      lines.add("");
    }
    String counted =
        active == 0
            ? "No tenant was active"
            : "%d of %s, ranked by %s,"
                .formatted(
                    tenants.size(),
                    active == 1 ? "1 active tenant" : active + " active tenants",
                    sort);
    lines.add(
        "%s from %s to %s."
                .formatted(
                    counted,
                    Json.text(ranking, "from").orElse("?"),
                    Json.text(ranking, "to").orElse("?"))
            + (to.isPresent() ? "" : " " + HistoryCommand.INCOMPLETE));
    return lines;
  }
}
