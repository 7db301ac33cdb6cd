package dev.tollgate.cli.importing;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.apply.CurrentState.CurrentTenant;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.importing.ImportOutcome.Failed;
import dev.tollgate.cli.importing.TenantRows.Row;
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntConsumer;

/**
 * Onboards the tenants of a CSV file. Tenants that exist already are skipped, so an import that was
 * interrupted can simply be run again.
 */
public final class TenantImport {
  private final Sender api;
  private final Throughput throughput;
  private final Progress progress;

  public TenantImport(Sender api, Throughput throughput, Progress progress) {
    this.api = api;
    this.throughput = throughput;
    this.progress = progress;
  }

  /**
   * Imports a file.
   *
   * @param name the file's name in messages
   * @param csv the file's content
   * @param confirm gets the number of tenants to onboard before the first is onboarded; a failure
   *     ends the import
   * @throws Failure if the file has errors or the deployment's tenants cannot be read; nothing is
   *     imported then
   */
  public ImportOutcome run(String name, String csv, IntConsumer confirm) {
    TenantRows file = TenantRows.of(name, csv);
    CurrentState current = CurrentState.read(api);
    checkTiers(file, current);
    file.errors().throwIfAny();
    List<Failed> failures = Collections.synchronizedList(new ArrayList<>());
    List<Row> missing = new ArrayList<>();
    for (Row row : file.rows()) {
      Optional<CurrentTenant> found = Optional.ofNullable(current.tenants().get(row.tenantId()));
      if (found.isEmpty()) {
        missing.add(row);
      } else if (!found.get().matches(row.tenant())) {
        failures.add(
            new Failed(row, "already exists with different settings: " + settings(found.get())));
      }
    }
    long unchanged = (long) file.rows().size() - missing.size() - failures.size();
    if (!missing.isEmpty()) {
      confirm.accept(missing.size());
    }
    AtomicLong onboarded = new AtomicLong();
    List<Row> notStarted = onboard(missing, onboarded, failures);
    return new ImportOutcome(onboarded.get(), unchanged, notStarted, failures);
  }

  private static void checkTiers(TenantRows file, CurrentState current) {
    for (Row row : file.rows()) {
      String tier = row.tenant().tier();
      if (!current.tiers().containsKey(tier)) {
        String known = String.join(", ", current.tiers().keySet());
        file.errors().add(row.number(), "tier", tier, known);
      }
    }
  }

  private static String settings(CurrentTenant tenant) {
    List<String> settings = new ArrayList<>(List.of("tier " + tenant.tier()));
    tenant.overrides().forEach((limit, value) -> settings.add(limit + "=" + value));
    if (tenant.isBeingRemoved()) {
      settings.add("being removed");
    }
    return String.join(", ", settings);
  }

  /** Onboards tenants; returns the rows that were not started. */
  private List<Row> onboard(List<Row> rows, AtomicLong onboarded, List<Failed> failures) {
    if (rows.isEmpty()) {
      return List.of();
    }
    progress.start("Imported", rows.size(), "tenants");
    return throughput.forEach(rows, row -> onboard(row, onboarded, failures));
  }

  /** Onboards a tenant; returns whether the next one is worth a request. */
  private boolean onboard(Row row, AtomicLong onboarded, List<Failed> failures) {
    try {
      ObjectNode body = row.tenant().onboardingRequest(row.tenantId());
      Response response = api.send("POST", "/tenants", Optional.of(body), Map.of());
      if (response.succeeded()) {
        onboarded.incrementAndGet();
      } else {
        failures.add(new Failed(row, response.problem().line()));
      }
      progress.step(response.succeeded());
      return !response.isAccessDenied();
    } catch (Failure noResponse) {
      failures.add(new Failed(row, noResponse.reason()));
      progress.step(false);
      return false;
    }
  }
}
