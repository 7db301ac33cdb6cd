package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import java.util.List;
import java.util.Optional;

/**
 * The findings on one page of resources.
 *
 * @param stage the type of the checked resources
 * @param checked the number of checked resources
 * @param next where the next page starts; empty after the last page
 */
public record DriftReport(
    Position.Stage stage, List<Result> results, long checked, Optional<Position> next) {
  /** Copies the results. */
  public DriftReport {
    results = List.copyOf(results);
  }

  /**
   * A finding with the outcome of its repair.
   *
   * @param repair empty if no repair was requested
   */
  public record Result(Finding finding, Optional<ReconcileOutcome> repair) {}
}
