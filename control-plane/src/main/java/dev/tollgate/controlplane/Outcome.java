package dev.tollgate.controlplane;

import java.util.List;

/** How far a tenant's desired state has been brought about. */
sealed interface Outcome {
  /** Wholly. */
  record Settled() implements Outcome {}

  /**
   * In part; the sweep goes on with it.
   *
   * @param reasons what could not be done, and why
   */
  record Pending(List<String> reasons) implements Outcome {
    public Pending {
      reasons = List.copyOf(reasons);
    }
  }
}
