package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the steps of a run found.
 *
 * @param where the account and Region, or that it was a rehearsal
 * @param isRehearsal whether local clouds were tried, on which some promises cannot be tried
 * @param findings the findings of each step that has ended, in order
 * @param pending the steps that have not ended
 * @param costs the most that each attempt at a step costs, in cents, by the step's name
 */
record Report(
    String where,
    boolean isRehearsal,
    Map<String, List<Finding>> findings,
    List<String> pending,
    Map<String, List<Integer>> costs) {
  Report {
    findings = new LinkedHashMap<>(findings);
    pending = List.copyOf(pending);
    costs = new LinkedHashMap<>(costs);
  }

  /** The report of a run so far. */
  static Report of(Run run) {
    Map<String, List<Finding>> findings = new LinkedHashMap<>();
    List<String> pending = new ArrayList<>();
    for (Step step : Step.all()) {
      run.findings(step.name())
          .ifPresentOrElse(
              found -> findings.put(step.name(), found), () -> pending.add(step.name()));
    }
    String where =
        run.stacks().areLocal()
            ? "a local cloud (a rehearsal, which proves nothing about AWS)"
            : "account %s in %s".formatted(run.account(), run.stacks().account().region());
    return new Report(where, run.stacks().areLocal(), findings, pending, run.costs());
  }

  /** Whether all steps have ended, no promise fails, and on AWS all could be tried. */
  boolean passed() {
    return pending.isEmpty()
        && count(Finding.Result.FAILS) == 0
        && (isRehearsal || count(Finding.Result.UNKNOWN) == 0);
  }

  private long count(Finding.Result result) {
    return findings.values().stream()
        .flatMap(List::stream)
        .filter(finding -> finding.result() == result)
        .count();
  }

  /** The report for a person, in Markdown. */
  List<String> lines() {
    List<String> lines = new ArrayList<>();
    lines.add("# Proof on " + where);
    lines.add("");
    lines.add(
        "%d promises hold, %d fail, %d could not be tried."
            .formatted(
                count(Finding.Result.HOLDS),
                count(Finding.Result.FAILS),
                count(Finding.Result.UNKNOWN)));
    if (!pending.isEmpty()) {
      lines.add("Not done: " + String.join(", ", pending) + ".");
    }
    findings.forEach(
        (step, found) -> {
          lines.add("");
          lines.add("## " + step);
          found.forEach(finding -> lines.addAll(lines(finding)));
        });
    lines.add("");
    lines.add("## costs");
    lines.add(
        isRehearsal
            ? "A rehearsal costs nothing. On AWS, at most:"
            : "At most, at list prices; `tollgate prove --bill` shows the bill a day later:");
    costs.forEach(
        (step, attempts) ->
            lines.add(
                "- %s: %s%s"
                    .formatted(
                        step,
                        Proof.dollars(sum(attempts)),
                        attempts.size() == 1 ? "" : " (" + attempts.size() + " attempts)")));
    lines.add("- together: " + Proof.dollars(cents()));
    return lines;
  }

  private int cents() {
    return costs.values().stream().mapToInt(Report::sum).sum();
  }

  private static int sum(List<Integer> cents) {
    return cents.stream().mapToInt(Integer::intValue).sum();
  }

  private static List<String> lines(Finding finding) {
    List<String> lines = new ArrayList<>();
    boolean inOneLine = finding.result() == Finding.Result.HOLDS && !finding.seen().isEmpty();
    lines.add(
        "- %s: %s".formatted(finding.result(), finding.promise())
            + (inOneLine ? " (" + finding.seen() + ")" : ""));
    if (finding.result() != Finding.Result.HOLDS) {
      lines.add("  - seen: " + finding.seen());
    }
    if (finding.result() == Finding.Result.FAILS && !finding.mend().isEmpty()) {
      lines.add("  - mend: " + finding.mend());
    }
    return lines;
  }

  ObjectNode document() {
    ObjectNode document = Json.object().put("where", where).put("passed", passed());
    ArrayNode steps = document.putArray("steps");
    findings.forEach(
        (step, found) -> {
          ArrayNode all = steps.addObject().put("name", step).putArray("findings");
          found.forEach(finding -> all.add(finding.document()));
        });
    pending.forEach(document.putArray("pending")::add);
    ArrayNode all = document.putArray("costs");
    costs.forEach(
        (step, attempts) ->
            all.addObject()
                .put("step", step)
                .put("attempts", attempts.size())
                .put("atMostCents", sum(attempts)));
    document.put("atMostCents", cents());
    return document;
  }
}
