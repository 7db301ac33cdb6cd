package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.Unavailable;
import java.util.List;

/**
 * One look at something that may not be as it should be, and the repair of it. Both throw {@link
 * Unavailable} if something could not be asked; both may be repeated.
 */
interface Check {
  /** What is wrong, if anything, as far as one look tells. Only reads. */
  List<Finding> findings();

  /**
   * Repairs what was found.
   *
   * @return what became of each finding, in their order
   */
  List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation);
}
