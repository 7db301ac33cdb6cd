package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Optional;

/** The answer to a claim. */
public sealed interface Claim {
  /**
   * The claimed tokens are available.
   *
   * @param lease the lease that holds them; empty if they are already spent
   */
  record Admitted(Optional<Lease> lease) implements Claim {
    @Override
    public String toString() {
      return "admitted";
    }
  }

  /**
   * Too few tokens are available; none is held.
   *
   * @param retryAfter how long a caller without competitors must wait
   */
  record Refused(Duration retryAfter) implements Claim {
    @Override
    public String toString() {
      return "refused, retry after " + retryAfter;
    }
  }

  /**
   * The limiter failed to decide. The caller is not admitted.
   *
   * @param why what failed
   */
  record Undecided(String why) implements Claim {
    @Override
    public String toString() {
      return "undecided: " + why;
    }
  }

  /** An admitted claim whose token is already spent. */
  static Claim admitted() {
    return new Admitted(Optional.empty());
  }

  /** An admitted claim whose tokens are held by a lease. */
  static Claim admitted(Lease lease) {
    return new Admitted(Optional.of(lease));
  }

  /** A refused claim. */
  static Claim refused(Duration retryAfter) {
    return new Refused(retryAfter);
  }
}
