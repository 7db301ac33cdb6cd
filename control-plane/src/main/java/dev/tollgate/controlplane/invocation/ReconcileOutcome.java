package dev.tollgate.controlplane.invocation;

import java.util.List;

/** Whether a tenant, or a part of it, has reached its desired state. */
public sealed interface ReconcileOutcome {
  /** The desired state is reached. */
  record Settled() implements ReconcileOutcome {}

  /**
   * Some steps failed or did not start; the sweep repeats them.
   *
   * @param reasons the steps, each with its reason
   */
  record Pending(List<String> reasons) implements ReconcileOutcome {
    /** Copies the reasons. */
    public Pending {
      reasons = List.copyOf(reasons);
    }
  }
}
