package dev.tollgate.core.housekeeping;

import java.util.concurrent.atomic.AtomicInteger;

/** The checks of connections that an invocation may do. */
final class CheckBudget {
  private final int most;
  private final AtomicInteger left;

  CheckBudget(int most) {
    this.most = most;
    this.left = new AtomicInteger(most);
  }

  /** Takes one check; false if none is left. */
  boolean take() {
    return left.getAndUpdate(n -> Math.max(0, n - 1)) > 0;
  }

  /** The number of runs among which the checks of so many connections are divided. */
  long runsFor(long connections) {
    return 1 + Math.max(0, connections - 1) / most;
  }
}
