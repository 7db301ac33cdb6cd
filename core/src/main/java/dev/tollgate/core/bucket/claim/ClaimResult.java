package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Place;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

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
   * @param retryAt when the missing tokens will have appeared, if no other caller takes them; with
   *     a place, nobody else takes them
   * @param place the caller's place in the bucket's line, if it has one
   */
  record Denied(Instant retryAt, Optional<Place> place) implements Shortfall {
    /** A refusal of a caller without a place. */
    public Denied(Instant retryAt) {
      this(retryAt, Optional.empty());
    }
  }

  /**
   * The queue could not be asked. The tokens are not spent, as far as is known.
   *
   * @param cause what failed
   * @param isOutage whether the queue gave no answer, so that the caller decides whether to admit
   *     or refuse. If not, the request was not even sent, and the caller must refuse
   */
  record Undecided(String cause, boolean isOutage) implements Shortfall {
    /** The result after this failure. A lack of credentials is no outage of the queue. */
    public static Undecided after(Unavailable failure) {
      return new Undecided(failure.reason(), !(failure instanceof NoCredentials));
    }
  }
}
