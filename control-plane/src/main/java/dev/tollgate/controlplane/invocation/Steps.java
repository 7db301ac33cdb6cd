package dev.tollgate.controlplane.invocation;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Runs the steps of a reconciliation and collects the reasons of failed ones. A failed step does
 * not stop the steps that do not depend on it.
 */
public final class Steps {
  private final Invocation invocation;
  private final List<String> reasons = new ArrayList<>();

  /** Steps within the time of this invocation. */
  public Steps(Invocation invocation) {
    this.invocation = invocation;
  }

  /**
   * Runs a step if there is time.
   *
   * @param name the name of the step in its failure's reason
   * @return the result; empty if the step failed or did not run
   */
  public <T> Optional<T> attempt(String name, Supplier<T> step) {
    if (invocation.isOver()) {
      reasons.add(name + ": no time left");
      return Optional.empty();
    }
    try {
      return Optional.of(step.get());
    } catch (Unavailable unavailable) {
      reasons.add(name + ": " + unavailable.reason());
      return Optional.empty();
    } catch (UnreadableRow unreadable) {
      reasons.add(name + ": " + unreadable.reason());
      return Optional.empty();
    }
  }

  /** Runs a step if there is time; returns whether it succeeded. */
  public boolean run(String name, Runnable step) {
    return attempt(
            name,
            () -> {
              step.run();
              return true;
            })
        .isPresent();
  }

  /** The time after which no step starts. */
  public Instant end() {
    return invocation.end();
  }

  /** Logs an event that does not count as a failure. */
  public void log(String line) {
    invocation.log(line);
  }

  /** Records a step that must be repeated later. */
  public void postpone(String reason) {
    reasons.add(reason);
  }

  /** Whether no step has failed so far. */
  public boolean allSucceeded() {
    return reasons.isEmpty();
  }

  /** The outcome of all steps so far. */
  public ReconcileOutcome outcome() {
    return allSucceeded() ? new ReconcileOutcome.Settled() : new ReconcileOutcome.Pending(reasons);
  }
}
