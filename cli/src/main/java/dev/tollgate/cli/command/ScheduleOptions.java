package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Table;
import java.math.BigDecimal;
import java.util.List;
import picocli.CommandLine.Option;

/** The window in which limits are multiplied. */
final class ScheduleOptions {
  @Option(
      names = "--factor",
      paramLabel = "NUMBER",
      required = true,
      description =
          "Multiply rates, capacities and the number of connections by this, such as 2 or 0.5.")
  private BigDecimal factor = BigDecimal.ONE;

  @Option(
      names = "--from",
      paramLabel = "TIME",
      required = true,
      description = "The local time at which the window opens, such as 2026-11-27T18:00.")
  private String from = "";

  @Option(
      names = "--to",
      paramLabel = "TIME",
      required = true,
      description = "The local time at which it closes.")
  private String to = "";

  @Option(
      names = "--zone",
      paramLabel = "ZONE",
      required = true,
      description = "The time zone of both times, such as Europe/Berlin or UTC.")
  private String zone = "";

  ScheduleOptions() {}

  /** The body of a request. */
  ObjectNode body() {
    return Json.object().put("factor", factor).put("from", from).put("to", to).put("zone", zone);
  }

  /** For example {@code factor 2 from 2026-11-27T18:00 to 2026-11-28T02:00 (Europe/Berlin)}. */
  @Override
  public String toString() {
    return "factor %s from %s to %s (%s)".formatted(factor.toPlainString(), from, to, zone);
  }

  /** The scheduled limits of a tenant and its tier; only a header if there are none. */
  static Table table(JsonNode tenant) {
    Table table = new Table("SCHEDULE", "FACTOR", "FROM", "TO", "ZONE", "OPEN", "OF");
    for (String owner : List.of("tenant", "tier")) {
      tenant
          .path(owner.equals("tier") ? "tierSchedules" : "schedules")
          .properties()
          .forEach(
              each -> {
                JsonNode window = each.getValue();
                table.row(
                    each.getKey(),
                    Json.text(window, "factor").orElse(""),
                    Json.text(window, "from").orElse(""),
                    Json.text(window, "to").orElse(""),
                    Json.text(window, "zone").orElse(""),
                    window.path("open").asBoolean() ? "open" : "",
                    owner);
              });
    }
    return table;
  }
}
