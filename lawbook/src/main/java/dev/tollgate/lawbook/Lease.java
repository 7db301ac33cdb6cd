package dev.tollgate.lawbook;

import java.time.Instant;

/** Tokens that are held, to be spent or given back. */
public interface Lease {
  /** How many tokens are held. */
  default long tokens() {
    return 1;
  }

  /** When the tokens go back by themselves; they are not to be spent from then on. */
  Instant endsAt();

  /** Spends the tokens, all of them or none. */
  Spending spend();

  /** Gives the tokens back. They may be had again, within a second. */
  void giveBack();

  /** What became of tokens that were to be spent. */
  enum Spending {
    /** They are spent, and their holder admitted. */
    SPENT,
    /** They are not, for they were not held any more. */
    REFUSED,
    /** Nobody knows; their holder is not admitted. */
    UNDECIDED
  }
}
