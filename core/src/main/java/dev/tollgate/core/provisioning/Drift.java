package dev.tollgate.core.provisioning;

import java.util.List;

/** The difference between a resource and its desired state. */
public sealed interface Drift {
  /** The resource matches its desired state. */
  record InSync() implements Drift {}

  /** The resource does not exist. */
  record Missing() implements Drift {}

  /**
   * The resource differs from its desired state.
   *
   * @param differences at least one, each with the current and the expected value
   */
  record Differs(List<String> differences) implements Drift {
    /** Copies the differences. */
    public Differs {
      differences = List.copyOf(differences);
    }
  }

  /** {@link InSync} if there are no differences, else {@link Differs}. */
  static Drift of(List<String> differences) {
    return differences.isEmpty() ? new InSync() : new Differs(differences);
  }
}
