package dev.tollgate.lawbook;

import java.time.Instant;

/** Claimed tokens that are held until they are spent or given back. */
public interface Lease {
  /** How many tokens are held. */
  default long tokens() {
    return 1;
  }

  /** When the lease ends: the tokens return to the bucket and can no longer be spent. */
  Instant endsAt();

  /** Spends the tokens, all or none. */
  Spending spend();

  /** Gives the tokens back. They are available again within a second. */
  void giveBack();

  /** The result of spending. */
  enum Spending {
    /** The tokens are spent; the holder is admitted. */
    SPENT,
    /** The lease had ended; nothing is spent. */
    REFUSED,
    /** Unknown, because of a failure; the holder is not admitted. */
    UNDECIDED
  }
}
