package dev.tollgate.lawbook;

import java.time.Instant;

/** A token that is held, to be spent or given back. */
public interface Lease {
  /** When the token goes back by itself; it is not to be spent from then on. */
  Instant endsAt();

  /** Spends the token. */
  Spending spend();

  /** Gives the token back. It may be had again, at once. */
  void giveBack();

  /** What became of a token that was to be spent. */
  enum Spending {
    /** It is spent, and its holder admitted. */
    SPENT,
    /** It is not, for it was not held any more. */
    REFUSED,
    /** Nobody knows; its holder is not admitted. */
    UNDECIDED
  }
}
