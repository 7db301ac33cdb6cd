package dev.tollgate.core.provisioning;

import java.util.List;

/** How something that is provided compares with what it should be. */
public sealed interface Drift {
  /** It is what it should be. */
  record InSync() implements Drift {}

  /** It should be there, and is not. */
  record Missing() implements Drift {}

  /**
   * It is there, and is not what it should be.
   *
   * @param differences at least one; each says what is there, and what should be
   */
  record Differs(List<String> differences) implements Drift {
    /** Copies the differences. */
    public Differs {
      differences = List.copyOf(differences);
    }
  }

  /** {@link InSync} without any difference, else {@link Differs}. */
  static Drift of(List<String> differences) {
    return differences.isEmpty() ? new InSync() : new Differs(differences);
  }
}
