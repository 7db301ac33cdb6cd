package dev.tollgate.controlplane.invocation;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Steps that may fail without stopping those that do not depend on them. */
public final class Steps {
  private final Invocation invocation;
  private final List<String> reasons = new ArrayList<>();

  public Steps(Invocation invocation) {
    this.invocation = invocation;
  }

  /** Takes a step, if there is time; empty if it failed or was not taken. */
  public <T> Optional<T> attempt(String what, Supplier<T> step) {
    if (invocation.isOver()) {
      reasons.add(what + ": no time left");
      return Optional.empty();
    }
    try {
      return Optional.of(step.get());
    } catch (Unavailable unavailable) {
      reasons.add(what + ": " + unavailable.reason());
      return Optional.empty();
    } catch (UnreadableRow unreadable) {
      reasons.add(what + ": " + unreadable.reason());
      return Optional.empty();
    }
  }

  /** Takes a step, if there is time; returns whether it was done. */
  public boolean done(String what, Runnable step) {
    return attempt(
            what,
            () -> {
              step.run();
              return true;
            })
        .isPresent();
  }

  /** Tells the log of something that keeps nothing from being done. */
  public void tell(String line) {
    invocation.log(line);
  }

  /** Notes that something must wait. */
  public void postpone(String reason) {
    reasons.add(reason);
  }

  /** Whether all has been done so far. */
  public boolean allDone() {
    return reasons.isEmpty();
  }

  public ReconcileOutcome outcome() {
    return allDone() ? new ReconcileOutcome.Settled() : new ReconcileOutcome.Pending(reasons);
  }
}
