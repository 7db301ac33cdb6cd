package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import java.time.Instant;
import java.util.List;

/** The answer to a claim for tokens. */
public sealed interface ClaimResult {
  /**
   * All the tokens are held. They are the holder's until {@link #endsAt}, to settle or to give
   * back.
   *
   * @param bucket where they come from
   * @param leases one a token
   */
  record Granted(BucketId bucket, List<Lease> leases) implements ClaimResult {
    /** Copies the leases. */
    public Granted {
      leases = List.copyOf(leases);
    }

    /** When the first of the tokens goes back by itself. */
    public Instant endsAt() {
      return leases.stream().map(Lease::endsAt).min(Instant::compareTo).orElse(Instant.MAX);
    }
  }

  /** Tokens are missing. */
  sealed interface Shortfall extends ClaimResult {}

  /**
   * Not enough tokens are there; none is held.
   *
   * @param retryAt when as many as were missing will have come, if nobody else takes them
   */
  record Denied(Instant retryAt) implements Shortfall {}

  /**
   * The bucket could not be asked. Whether that admits or refuses is for the caller to say.
   *
   * @param cause what failed
   */
  record Undecided(String cause) implements Shortfall {}
}
