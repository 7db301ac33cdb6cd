package dev.tollgate.controlplane.invocation;

import java.util.List;

/** How far a tenant's desired state has been brought about. */
public sealed interface ReconcileOutcome {
  /** Wholly. */
  record Settled() implements ReconcileOutcome {}

  /**
   * In part; the sweep goes on with it.
   *
   * @param reasons what could not be done, and why
   */
  record Pending(List<String> reasons) implements ReconcileOutcome {
    public Pending {
      reasons = List.copyOf(reasons);
    }
  }
}
