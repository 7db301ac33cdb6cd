package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.Unavailable;
import java.util.List;

/**
 * A check of one resource for drift, and its repair. Both can be repeated. Both throw {@link
 * Unavailable} if the resource cannot be read.
 */
interface Check {
  /** What is wrong with the resource; empty if nothing is. Only reads. */
  List<Finding> findings();

  /**
   * Repairs the resource.
   *
   * @return the outcome for each finding, in the same order
   */
  List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation);
}
