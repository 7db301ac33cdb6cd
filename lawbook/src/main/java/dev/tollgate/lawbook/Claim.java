package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Optional;

/** The answer to a claim. */
public sealed interface Claim {
  /**
   * There are as many tokens as were claimed.
   *
   * @param lease what holds them; empty if they are spent already
   */
  record Admitted(Optional<Lease> lease) implements Claim {
    @Override
    public String toString() {
      return "admitted";
    }
  }

  /**
   * There are not so many; none is held.
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

  /** There are tokens, and they are held. */
  static Claim admitted(Lease lease) {
    return new Admitted(Optional.of(lease));
  }

  /** There are not so many. */
  static Claim refused(Duration retryAfter) {
    return new Refused(retryAfter);
  }
}
