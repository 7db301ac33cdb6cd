package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.apply.CurrentState.StandingTenant;
import dev.tollgate.cli.apply.Execution;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.importing.TenantRows;
import dev.tollgate.cli.importing.TenantRows.Row;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/**
 * Onboards the tenants of a CSV file. What stands already is skipped, so it needs no note of how
 * far it came: a second run does what the first one did not.
 */
@Command(
    name = "import",
    description = {
      "Onboard the tenants of a CSV file: a header tenantId,tier and any limits' names for"
          + " overrides, where a blank is none.",
      "Tenants that exist just like their row are skipped, so it may be repeated; tenants with"
          + " another tier or other overrides are reported and left as they are."
    })
final class Import implements Callable<Integer> {
  private static final String STDIN = "-";

  private final Tollgate tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "FILE", description = "CSV; - for standard input.")
  private String file = STDIN;

  @Mixin private Throughput throughput = new Throughput();

  Import(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    final long start = shell.nanoTime().getAsLong();
    TenantRows read = TenantRows.of(name(), text());
    Sender api = throughput.paced(tollgate.controlPlane(), shell);
    CurrentState standing = CurrentState.ask(api);
    for (Row row : read.rows()) {
      if (!standing.tiers().containsKey(row.tenant().tier())) {
        read.mistakes()
            .add(
                row.number(),
                "tier",
                row.tenant().tier(),
                String.join(", ", standing.tiers().keySet()));
      }
    }
    read.mistakes().orFail();
    List<Failed> failures = Collections.synchronizedList(new ArrayList<>());
    List<Row> missing = new ArrayList<>();
    for (Row row : read.rows()) {
      Optional<StandingTenant> stands = Optional.ofNullable(standing.tenants().get(row.tenantId()));
      if (stands.isEmpty()) {
        missing.add(row);
      } else if (!stands.get().isAs(row.tenant())) {
        failures.add(new Failed(row, "exists with other settings: " + described(stands.get())));
      }
    }
    long standAlready = (long) read.rows().size() - missing.size() - failures.size();
    Done done = onboard(api, missing, failures);
    Duration took = Duration.ofNanos(shell.nanoTime().getAsLong() - start);
    tell(done, standAlready, failures, took);
    return failures.isEmpty() && done.untouched().isEmpty() ? 0 : Failure.FAILED;
  }

  private String name() {
    return file.equals(STDIN)
        ? "standard input"
        : shell.shown(shell.file(Path.of(file))).toString();
  }

  private String text() {
    try {
      return file.equals(STDIN)
          ? new String(shell.in().readAllBytes(), StandardCharsets.UTF_8)
          : Files.readString(shell.file(Path.of(file)));
    } catch (IOException e) {
      throw Failure.unreadable(name(), e);
    }
  }

  private static String described(StandingTenant tenant) {
    List<String> facts = new ArrayList<>(List.of("tier " + tenant.tier()));
    tenant.overrides().forEach((limit, value) -> facts.add(limit + "=" + value));
    if (tenant.isLeaving()) {
      facts.add("being removed");
    }
    return String.join(", ", facts);
  }

  /** How many were onboarded, and who was not tried. */
  private record Done(long onboarded, List<Row> untouched) {}

  private record Failed(Row row, String reason) {}

  private Done onboard(Sender api, List<Row> rows, List<Failed> failures) {
    if (rows.isEmpty()) {
      return new Done(0, List.of());
    }
    AtomicLong onboarded = new AtomicLong();
    try (Progress progress = new Progress(shell, "Onboarding", rows.size())) {
      List<Row> untouched =
          throughput.forEach(
              rows,
              row -> {
                boolean goesOn = onboard(api, row, onboarded, failures);
                progress.step();
                return goesOn;
              });
      return new Done(onboarded.get(), untouched);
    }
  }

  /** Whether the others are worth a try. */
  private static boolean onboard(Sender api, Row row, AtomicLong onboarded, List<Failed> failures) {
    try {
      ObjectNode body = Execution.onboarding(row.tenantId(), row.tenant());
      Answer answer = api.send("POST", "/tenants", Optional.of(body), Map.of());
      if (answer.succeeded()) {
        onboarded.incrementAndGet();
      } else {
        failures.add(new Failed(row, answer.problem().line()));
      }
      return !answer.isNotAllowed();
    } catch (Failure noAnswer) {
      failures.add(new Failed(row, noAnswer.reason()));
      return false;
    }
  }

  private void tell(Done done, long standAlready, List<Failed> failed, Duration took) {
    List<Failed> failures =
        failed.stream()
            .sorted(Comparator.comparingLong(failure -> failure.row().number()))
            .toList();
    ObjectNode document =
        Json.object()
            .put("onboarded", done.onboarded())
            .put("stoodAlready", standAlready)
            .put("notBegun", done.untouched().size());
    ArrayNode told = document.putArray("failed");
    failures.forEach(
        failure ->
            told.addObject()
                .put("row", failure.row().number())
                .put("tenantId", failure.row().tenantId())
                .put("reason", failure.reason()));
    tollgate.print(document, List.of(summary(done, standAlready, failures.size(), took)));
    if (!tollgate.printsJson()) {
      failures.forEach(
          failure ->
              shell.complain(
                  "  row "
                      + failure.row().number()
                      + ": "
                      + failure.row().tenantId()
                      + ": "
                      + failure.reason()));
    }
  }

  private static String summary(Done done, long standAlready, int failures, Duration took) {
    boolean nothing = done.onboarded() == 0 && failures == 0 && done.untouched().isEmpty();
    if (nothing) {
      return "%s already; nothing to do.".formatted(stand(standAlready));
    }
    List<String> parts = new ArrayList<>();
    parts.add(
        String.format(
            Locale.ROOT, "%,d onboarded in %s", done.onboarded(), Tollgate.seconds(took)));
    if (standAlready > 0) {
      parts.add(stand(standAlready) + " already");
    }
    if (failures > 0) {
      parts.add(String.format(Locale.ROOT, "%,d failed", failures));
    }
    if (!done.untouched().isEmpty()) {
      parts.add(
          String.format(
              Locale.ROOT,
              "%,d not begun, from row %d on; run it again",
              done.untouched().size(),
              done.untouched().get(0).number()));
    }
    return String.join("; ", parts) + (failures > 0 ? ":" : ".");
  }

  private static String stand(long count) {
    return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? "stands" : "stand");
  }
}
