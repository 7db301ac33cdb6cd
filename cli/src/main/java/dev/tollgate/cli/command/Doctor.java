package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.pacing.Pace;
import dev.tollgate.cli.pacing.PacedApi;
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
import picocli.CommandLine.Option;

/** Finds, and repairs, what somebody changed or deleted by hand. */
@Command(
    name = "doctor",
    description =
        "Look whether tenants, queues and schedules are as they should be, and repair them.",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:all is as it should be, or was repaired",
      "1:something is not, or a request was refused or failed",
      "2:the command was not understood"
    })
final class Doctor implements Callable<Integer> {
  /** A walk that meets a busy deployment goes on by itself; it has no need to hurry. */
  private static final double REQUESTS_PER_SECOND = 5;

  private final Tollgate tollgate;
  private final Shell shell;

  @Option(names = "--repair", description = "Repair what is found.")
  private boolean repair;

  Doctor(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    Sender api =
        new PacedApi(
            tollgate.controlPlane(), new Pace(REQUESTS_PER_SECOND, shell.nanoTime()), shell);
    Map<String, Long> checked = new LinkedHashMap<>();
    ObjectNode document = Json.object();
    ArrayNode findings = document.putArray("findings");
    Optional<String> cursor = Optional.empty();
    do {
      JsonNode part = part(api, cursor);
      part.path("findings").forEach(findings::add);
      checked.merge(
          Json.text(part, "resources").orElse("resources"),
          part.path("checked").asLong(),
          Long::sum);
      cursor = Json.text(part, "next");
      if (cursor.isPresent()) {
        shell.complain("Checked " + said(checked) + " …");
      }
    } while (cursor.isPresent());
    checked.forEach(document.putObject("checked")::put);
    long left = left(findings);
    tollgate.print(document, lines(checked, findings, left));
    return left == 0 ? 0 : Failure.FAILED;
  }

  private JsonNode part(Sender api, Optional<String> cursor) {
    String query = cursor.map(next -> "?" + Api.query(Map.of("cursor", next))).orElse("");
    return repair
        ? api.send("POST", "/repairs" + query, Optional.of(Json.object()), Map.of()).orFail().json()
        : api.get("/drift" + query).orFail().json();
  }

  private static String said(Map<String, Long> checked) {
    return checked.entrySet().stream()
        .map(entry -> entry.getValue() + " " + entry.getKey())
        .collect(Collectors.joining(", "));
  }

  private static long left(ArrayNode findings) {
    long left = 0;
    for (JsonNode finding : findings) {
      left += finding.path("repaired").asBoolean() ? 0 : 1;
    }
    return left;
  }

  private List<String> lines(Map<String, Long> checked, ArrayNode findings, long left) {
    String what = "Checked " + said(checked) + ": ";
    if (findings.isEmpty()) {
      return List.of(what + "all is as it should be.");
    }
    List<String> lines =
        new ArrayList<>(List.of(what + findings.size() + " not as it should be.", ""));
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
    lines.add(conclusion(findings.size(), left));
    return lines;
  }

  private String conclusion(long found, long left) {
    if (!repair) {
      return "Nothing was changed; `tollgate doctor --repair` repairs it.";
    }
    return left == 0
        ? "All was repaired."
        : "%d of %d could not be repaired now; the command may be repeated in a minute."
            .formatted(left, found);
  }
}
