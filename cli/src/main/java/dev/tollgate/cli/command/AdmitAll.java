package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The commands {@code tollgate admit-all}. */
@Command(
    name = "admit-all",
    description =
        "Lift all limits of all tenants for a while, in an incident. Without a subcommand, show"
            + " whether they are lifted.")
final class AdmitAll implements Callable<Integer> {
  private static final String PATH = "/admit-all";
  private static final Duration LONGEST = Duration.ofHours(24);
  private static final int MAX_REASON = 200;

  private final Tollgate tollgate;

  AdmitAll(Tollgate tollgate) {
    this.tollgate = tollgate;
  }

  @Override
  public Integer call() {
    return print(tollgate.quietControlPlane().get(PATH));
  }

  @Command(
      name = "on",
      description =
          "Lift all limits within five seconds. Unknown sessions and suspended tenants are still"
              + " refused. Limits come back by themselves. If limits are lifted already, the"
              + " new time and reason replace the old ones.")
  int on(
      @Option(
              names = "--reason",
              required = true,
              paramLabel = "TEXT",
              description = "Why, for everybody who sees it: at most 200 characters on one line.")
          String reason,
      @Option(
              names = "--for",
              paramLabel = "DURATION",
              defaultValue = "1h",
              description =
                  "When limits come back by themselves: 1m to 24h. Default: ${DEFAULT-VALUE}.")
          Duration time,
      @Mixin Confirmation confirmation) {
    if (time.compareTo(LONGEST) > 0) {
      throw Failure.usage("--for: " + time.toMinutes() + "m (expected: 1m to 24h)");
    }
    Failure.checkOption(
        !reason.isBlank()
            && reason.length() <= MAX_REASON
            && reason.chars().noneMatch(Character::isISOControl),
        "--reason",
        Json.write(TextNode.valueOf(reason)),
        "1 to " + MAX_REASON + " characters on one line");
    ObjectNode body = Json.object().put("reason", reason).put("minutes", time.toMinutes());
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Lift all limits of all tenants for " + time.toMinutes() + " minutes?",
        "lift all limits");
    return print(tollgate.quietControlPlane().send("PUT", PATH, Optional.of(body), Map.of()));
  }

  @Command(name = "off", description = "Enforce all limits again, within five seconds.")
  int off(@Mixin Confirmation confirmation) {
    tollgate.confirmInProduction(
        confirmation.isGiven(), "Enforce all limits again?", "enforce all limits again");
    return print(tollgate.quietControlPlane().send("DELETE", PATH, Optional.empty(), Map.of()));
  }

  private int print(Response response) {
    tollgate.print(
        tollgate.found(
            response,
            "The control plane has no switch for all limits. Deploy this version of Tollgate"
                + " first."),
        lines(response.json()));
    return 0;
  }

  private static List<String> lines(JsonNode state) {
    if (!state.path("on").asBoolean()) {
      return List.of("Limits are enforced.");
    }
    List<String> lines = new ArrayList<>();
    lines.add("All limits are lifted until " + text(state, "until") + ".");
    lines.add("Turned on at " + text(state, "since") + " by " + text(state, "by") + ".");
    lines.add("Reason: " + text(state, "reason"));
    return lines;
  }

  private static String text(JsonNode state, String field) {
    return Json.text(state, field).orElse("");
  }
}
