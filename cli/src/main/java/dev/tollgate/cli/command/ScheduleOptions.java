package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Table;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
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

  /**
   * The windows of a tier or a tenant.
   *
   * @param name the name of the tier or tenant
   * @param owner how a sentence names it, such as {@code tier gold}
   * @param path its path in the control plane
   * @param missing the message for a person if it does not exist
   */
  record Windows(Tollgate tollgate, String name, String owner, String path, String missing) {
    /** Adds a window, or previews that. */
    int add(
        ScheduleOptions window, Confirmation confirmation, boolean dryRun, IfVersion ifVersion) {
      String all = Paths.schedules(path);
      Optional<JsonNode> body = Optional.of(window.body());
      if (dryRun) {
        return tollgate.preview(name, "POST", all, body, ifVersion);
      }
      tollgate.confirmInProduction(
          confirmation.isGiven(),
          "Schedule %s for %s?".formatted(window, owner),
          "schedule limits of " + owner);
      Api api = tollgate.controlPlane();
      Response response = tollgate.found(api.send("POST", all, body, ifVersion.headers()), missing);
      String id = Json.text(response.json(), "id").orElse("");
      String state = response.json().path("open").asBoolean() ? ", which is open" : "";
      tollgate.print(
          response, List.of("Window %s of %s: %s%s".formatted(id, owner, window, state)));
      return 0;
    }

    /** Cancels a window, or previews that. */
    int cancel(String id, Confirmation confirmation, boolean dryRun, IfVersion ifVersion) {
      String one = Paths.schedule(path, id);
      if (dryRun) {
        return tollgate.preview(name, "DELETE", one, Optional.empty(), ifVersion);
      }
      tollgate.confirmInProduction(
          confirmation.isGiven(),
          "Cancel window %s of %s?".formatted(id, owner),
          "cancel window " + id);
      tollgate.controlPlane().send("DELETE", one, Optional.empty(), ifVersion.headers()).orThrow();
      tollgate.print(Json.object(), List.of("Window %s of %s is cancelled".formatted(id, owner)));
      return 0;
    }
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
