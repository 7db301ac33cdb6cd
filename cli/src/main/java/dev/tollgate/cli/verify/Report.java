package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The results of a run.
 *
 * @param prefix begins the names of the tenants and tiers of the run
 * @param leftOver tenants and tiers that could not be removed, such as {@code tier verify-x-pool}
 * @param differences what answers to requests outside of checks have that the contracts do not
 *     allow
 */
public record Report(
    String prefix,
    List<Result> results,
    List<String> leftOver,
    List<String> differences,
    Duration time) {
  private static final String INDENT = " ".repeat(11);

  public Report {
    results = List.copyOf(results);
    leftOver = List.copyOf(leftOver);
    differences = List.copyOf(differences);
  }

  /** Whether every check passed, every answer was as documented, and everything was removed. */
  public boolean passed() {
    return leftOver.isEmpty()
        && differences.isEmpty()
        && results.stream()
            .allMatch(each -> each instanceof Result.Passed || each instanceof Result.Inapplicable);
  }

  /** A result without its evidence, such as {@code PASSED race (1.2 s)}. */
  public static String summary(Result result) {
    return "%s %s (%s)"
        .formatted(status(result), result.check().name(), Trial.seconds(result.evidence().time()));
  }

  private static String line(Result result) {
    return "%-8s%-11s%8s  %s"
        .formatted(
            status(result),
            result.check().name(),
            Trial.seconds(result.evidence().time()),
            result.check().promise());
  }

  private static String status(Result result) {
    if (result instanceof Result.Passed) {
      return "PASSED";
    }
    if (result instanceof Result.Failed) {
      return "FAILED";
    }
    return result instanceof Result.Skipped ? "SKIPPED" : "N/A";
  }

  /** Why a check has no verdict; empty if it has one. */
  static Optional<String> reason(Result result) {
    if (result instanceof Result.Skipped skipped) {
      return Optional.of(skipped.reason());
    }
    return result instanceof Result.Inapplicable inapplicable
        ? Optional.of(inapplicable.reason())
        : Optional.empty();
  }

  /** The report for a person. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (Result result : results) {
      lines.add(line(result));
      if (result instanceof Result.Failed failed) {
        lines.add(INDENT + "expected  " + failed.expected());
        lines.add(INDENT + "seen      " + failed.seen());
        failed.evidence().steps().forEach(step -> lines.add(INDENT + "done      " + step));
      }
      reason(result).ifPresent(why -> lines.add(INDENT + "reason    " + why));
      if (!result.evidence().figures().isEmpty()) {
        lines.add(INDENT + figures(result));
      }
    }
    lines.add("");
    lines.add(conclusion());
    lines.addAll(problems());
    return lines;
  }

  /** What is wrong outside of the checks. */
  public List<String> problems() {
    List<String> problems = new ArrayList<>();
    differences.forEach(difference -> problems.add("Not as in the contract: " + difference));
    leftOver.forEach(
        left ->
            problems.add(
                "Not removed: %s. Remove it with `tollgate %s`."
                    .formatted(
                        left,
                        left.startsWith("tier ")
                            ? left.replaceFirst("tier ", "tiers delete ")
                            : left.replaceFirst("tenant ", "tenants offboard "))));
    return problems;
  }

  private static String figures(Result result) {
    return result.evidence().figures().entrySet().stream()
        .map(figure -> figure.getKey() + ": " + figure.getValue())
        .collect(Collectors.joining("; "));
  }

  private String conclusion() {
    long inapplicable = count(Result.Inapplicable.class);
    return "%d checks in %s: %d passed, %d failed, %d skipped%s."
        .formatted(
            results.size(),
            Trial.seconds(time),
            count(Result.Passed.class),
            count(Result.Failed.class),
            count(Result.Skipped.class),
            inapplicable == 0 ? "" : ", " + inapplicable + " not applicable");
  }

  long count(Class<? extends Result> kind) {
    return results.stream().filter(kind::isInstance).count();
  }

  /** The report as JSON. */
  public ObjectNode document() {
    ObjectNode document = Json.object();
    document.put("passed", passed()).put("prefix", prefix).put("seconds", seconds(time));
    ArrayNode checks = document.putArray("checks");
    for (Result result : results) {
      ObjectNode check = checks.addObject();
      check
          .put("name", result.check().name())
          .put("promise", result.check().promise())
          .put("result", status(result))
          .put("seconds", seconds(result.evidence().time()));
      if (result instanceof Result.Failed failed) {
        check.put("expected", failed.expected()).put("seen", failed.seen());
      }
      reason(result).ifPresent(why -> check.put("reason", why));
      result.evidence().steps().forEach(check.putArray("steps")::add);
      result.evidence().figures().forEach(check.putObject("figures")::put);
    }
    leftOver.forEach(document.putArray("leftOver")::add);
    differences.forEach(document.putArray("differences")::add);
    return document;
  }

  static double seconds(Duration time) {
    return time.toMillis() / 1000.0;
  }
}
