package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Optional;

/** The answer to a claim for one token. */
public sealed interface Claim {
  /**
   * There is one.
   *
   * @param lease what it is held by; empty if it is spent already
   */
  record Admitted(Optional<Lease> lease) implements Claim {
    @Override
    public String toString() {
      return "admitted";
    }
  }

  /**
   * There is none.
   *
   * @param retryAfter how long whoever claims alone is to wait
   */
  record Refused(Duration retryAfter) implements Claim {
    @Override
    public String toString() {
      return "refused, retry after " + retryAfter;
    }
  }

  /**
   * It could not be said. Whoever claimed is not admitted.
   *
   * @param why what failed
   */
  record Undecided(String why) implements Claim {
    @Override
    public String toString() {
      return "undecided: " + why;
    }
  }

  /** There is a token, and it is spent. */
  static Claim admitted() {
    return new Admitted(Optional.empty());
  }

  /** There is a token, and it is held. */
  static Claim admitted(Lease lease) {
    return new Admitted(Optional.of(lease));
  }

  /** There is none. */
  static Claim refused(Duration retryAfter) {
    return new Refused(retryAfter);
  }
}
