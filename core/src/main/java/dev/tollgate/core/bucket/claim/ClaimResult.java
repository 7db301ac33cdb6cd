package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import java.time.Instant;
import java.util.List;

/** The result of a claim for tokens. */
public sealed interface ClaimResult {
  /**
   * All the tokens are held until {@link #endsAt}, to be spent or returned.
   *
   * @param bucket the bucket of the tokens
   * @param leases one for each token
   */
  record Granted(BucketId bucket, List<Lease> leases) implements ClaimResult {
    /** Copies the leases. */
    public Granted {
      leases = List.copyOf(leases);
    }

    /** When the first lease ends. */
    public Instant endsAt() {
      return leases.stream().map(Lease::endsAt).min(Instant::compareTo).orElse(Instant.MAX);
    }
  }

  /** The tokens are not held. */
  sealed interface Shortfall extends ClaimResult {}

  /**
   * The bucket has too few tokens; none is held.
   *
   * @param retryAt when the missing tokens will have appeared, if no other caller takes them
   */
  record Denied(Instant retryAt) implements Shortfall {}

  /**
   * The queue failed. The caller decides whether to admit or refuse.
   *
   * @param cause what failed
   */
  record Undecided(String cause) implements Shortfall {}
}
