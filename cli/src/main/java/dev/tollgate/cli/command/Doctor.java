package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code tollgate doctor}: finds and repairs drift. */
@Command(
    name = "doctor",
    description =
        "Find and repair drift: tenants, queues and schedules that are missing, orphaned or changed"
            + " by hand. Also report account quotas that are too low for the deployment, tenants"
            + " with more admitted connections than tokens, and, if functions share credentials, a"
            + " weakened policy of their table. Exit code 3 if anything is found that is not repaired, even if the control plane finishes it"
            + " by itself.")
final class Doctor implements Callable<Integer> {
  /** Low, because the check must not slow down a busy deployment. */
  private static final double REQUESTS_PER_SECOND = 5;

  private final Tollgate tollgate;
  private final Shell shell;

  @Option(names = "--repair", description = "Repair the drift that is found.")
  private boolean repair;

  @Mixin private Confirmation confirmation = new Confirmation();

  Doctor(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (repair) {
      tollgate.confirmInProduction(
          confirmation.isGiven(),
          "Repair drift, and delete resources that belong to no tenant?",
          "repair drift");
    }
    Sender api = new PacedApi(tollgate.controlPlane(), REQUESTS_PER_SECOND, shell);
    Map<String, Long> checked = new LinkedHashMap<>();
    ObjectNode document = Json.object();
    ArrayNode findings = document.putArray("findings");
    try (Progress progress = tollgate.progress()) {
      progress.show("Checked 0 tenants");
      new PageIterator(cursor -> page(api, Api.suffix(cursor)))
          .forEachRemaining(
              page -> {
                page.path("findings").forEach(findings::add);
                checked.merge(
                    Json.text(page, "resources").orElse("resources"),
                    page.path("checked").asLong(),
                    Long::sum);
                progress.show("Checked " + counts(checked));
              });
    }
    checked.forEach(document.putObject("checked")::put);
    long notRepaired = notRepaired(findings);
    tollgate.print(document, lines(checked, findings, notRepaired));
    return notRepaired == 0 ? 0 : ExitCode.DIFFERS;
  }

  private JsonNode page(Sender api, String query) {
    return repair
        ? api.send("POST", "/repairs" + query, Optional.of(Json.object()), Map.of())
            .orThrow()
            .json()
        : api.get("/drift" + query).orThrow().json();
  }

  private static String counts(Map<String, Long> checked) {
    return checked.entrySet().stream()
        .map(entry -> entry.getValue() + " " + entry.getKey())
        .collect(Collectors.joining(", "));
  }

  private static long notRepaired(ArrayNode findings) {
    long notRepaired = 0;
    for (JsonNode finding : findings) {
      notRepaired += finding.path("repaired").asBoolean() ? 0 : 1;
    }
    return notRepaired;
  }

  private List<String> lines(Map<String, Long> checked, ArrayNode findings, long notRepaired) {
    String prefix = "Checked " + counts(checked) + ": ";
    if (findings.isEmpty()) {
      return List.of(prefix + "no drift.");
    }
    List<String> lines =
        new ArrayList<>(
            List.of(
                prefix + (findings.size() == 1 ? "1 finding." : findings.size() + " findings."),
                ""));
    Table table =
        repair
            ? new Table("FINDING", "RESOURCE", "NAME", "REPAIRED", "DETAIL")
            : new Table("FINDING", "RESOURCE", "NAME", "DETAIL");
    for (JsonNode finding : findings) {
      List<String> cells = new ArrayList<>();
      for (String field : List.of("kind", "resource", "name")) {
        cells.add(Json.text(finding, field).orElse(""));
      }
      if (repair) {
        cells.add(finding.path("repaired").asBoolean() ? "yes" : "no");
      }
      String detail = Json.text(finding, "detail").orElse("");
      cells.add(
          Json.text(finding, "reason")
              .map(reason -> detail + "; not repaired: " + reason)
              .orElse(detail));
      table.row(cells.toArray(String[]::new));
    }
    lines.addAll(table.lines());
    lines.add("");
    lines.add(conclusion(findings, notRepaired));
    return lines;
  }

  private String conclusion(ArrayNode findings, long notRepaired) {
    if (!repair
        && findings.valueStream().allMatch(finding -> finding.path("pending").asBoolean())) {
      return "The control plane finishes this by itself. Wait a minute, then run the command"
          + " again.";
    }
    if (!repair) {
      return "Nothing was changed. To repair, run `tollgate doctor --repair`.";
    }
    return notRepaired == 0
        ? "Everything was repaired."
        : "%d of %d could not be repaired. Run the command again in a minute."
            .formatted(notRepaired, findings.size());
  }
}
