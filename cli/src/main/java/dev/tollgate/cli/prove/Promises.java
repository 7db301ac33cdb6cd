package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.verify.Bounds;
import dev.tollgate.cli.verify.Report;
import dev.tollgate.cli.verify.Result;
import dev.tollgate.cli.verify.Verification;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** Runs the checks of {@code tollgate verify} and of {@code tollgate doctor}. */
final class Promises implements Step {
  private static final int USUAL_PARALLEL = 4;

  @Override
  public String name() {
    return "promises";
  }

  @Override
  public String description() {
    return "Run the checks of `tollgate verify`, and those of `tollgate doctor`.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 5;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Verification.usual(Verification.allChecks(), USUAL_PARALLEL).plusMinutes(1);
  }

  @Override
  public List<Finding> run(Run run) {
    Report report =
        new Verification(run.deployment(), run.shell(), Bounds.REAL, "verify-prove")
            .run(
                Verification.allChecks(),
                run.settings().parallel(),
                result -> run.shell().printError("  " + Report.summary(result)));
    run.write("verify.json", Json.writePretty(report.document()) + "\n");
    List<Finding> findings = new ArrayList<>();
    for (Result result : report.results()) {
      findings.add(finding(result));
    }
    for (String problem : report.problems()) {
      findings.add(
          Finding.fails("verify leaves nothing, and sees documented answers", problem, ""));
    }
    findings.add(drift(run));
    return findings;
  }

  private static Finding finding(Result result) {
    String promise = result.check().name() + ": " + result.check().promise();
    if (result instanceof Result.Failed failed) {
      return Finding.fails(
          promise,
          "expected " + failed.expected() + ", seen " + failed.seen(),
          "the steps are in verify.json; the functions' logs have the cause");
    }
    return result instanceof Result.Skipped skipped
        ? Finding.unknown(promise, skipped.reason())
        : Finding.holds(promise, "");
  }

  private static Finding drift(Run run) {
    Api api = run.controlPlane();
    List<String> found = new ArrayList<>();
    new PageIterator(cursor -> api.get("/drift" + Api.suffix(cursor)).orThrow().json())
        .forEachRemaining(page -> page.path("findings").forEach(it -> found.add(text(it))));
    return Finding.of(
        found.isEmpty(),
        "doctor finds no drift",
        String.join("; ", found),
        "findings in quotas need a request to AWS; others: `tollgate doctor --repair`");
  }

  private static String text(JsonNode finding) {
    return "%s %s %s: %s"
        .formatted(
            finding.path("kind").asText(),
            finding.path("resource").asText(),
            finding.path("name").asText(),
            finding.path("detail").asText());
  }
}
