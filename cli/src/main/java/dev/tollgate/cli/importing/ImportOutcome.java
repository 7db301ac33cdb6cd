package dev.tollgate.cli.importing;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.importing.TenantRows.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/**
 * The outcome of an import.
 *
 * @param onboarded the number of tenants that were onboarded
 * @param unchanged the number of tenants that existed already with the settings of their row
 * @param notStarted the rows that the import did not get to
 * @param failures the rows that could not be imported
 */
public record ImportOutcome(
    long onboarded, long unchanged, List<Row> notStarted, List<Failed> failures) {
  public ImportOutcome {
    notStarted = List.copyOf(notStarted);
    failures =
        failures.stream()
            .sorted(Comparator.comparingLong(failure -> failure.row().number()))
            .toList();
  }

  /** A row that could not be imported, and why. */
  public record Failed(Row row, String reason) {
    public String line() {
      return "row " + row.number() + ": " + row.tenantId() + ": " + reason;
    }
  }

  public boolean isComplete() {
    return failures.isEmpty() && notStarted.isEmpty();
  }

  public ObjectNode document() {
    ObjectNode document =
        Json.object()
            .put("onboarded", onboarded)
            .put("stoodAlready", unchanged)
            .put("notBegun", notStarted.size());
    ArrayNode failed = document.putArray("failed");
    failures.forEach(
        failure ->
            failed
                .addObject()
                .put("row", failure.row().number())
                .put("tenantId", failure.row().tenantId())
                .put("reason", failure.reason()));
    return document;
  }

  /**
   * The outcome in one line for a person.
   *
   * @param duration how long the import took, such as {@code 2.5 s}
   */
  public String summary(String duration) {
    if (onboarded == 0 && isComplete()) {
      return existing() + "; nothing to do.";
    }
    List<String> parts = new ArrayList<>();
    parts.add(String.format(Locale.ROOT, "%,d onboarded in %s", onboarded, duration));
    if (unchanged > 0) {
      parts.add(existing());
    }
    if (!failures.isEmpty()) {
      parts.add(String.format(Locale.ROOT, "%,d failed", failures.size()));
    }
    if (!notStarted.isEmpty()) {
      parts.add(
          String.format(
              Locale.ROOT,
              "%,d not started, from row %d on; run the command again",
              notStarted.size(),
              notStarted.get(0).number()));
    }
    return String.join("; ", parts) + (failures.isEmpty() ? "." : ":");
  }

  private String existing() {
    return String.format(
        Locale.ROOT, "%,d already %s", unchanged, unchanged == 1 ? "exists" : "exist");
  }
}
