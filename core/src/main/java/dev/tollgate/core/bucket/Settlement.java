package dev.tollgate.core.bucket;

/** What became of held tokens that were to be spent. */
public sealed interface Settlement {
  /** All of them are spent. */
  record Spent() implements Settlement {}

  /**
   * The lease ended before the queue answered. Whoever holds the tokens now may spend them, so they
   * do not count as spent here.
   */
  record Lapsed() implements Settlement {}

  /**
   * The queue did not say that all of them are spent; some may be.
   *
   * @param cause what failed
   */
  record Unknown(String cause) implements Settlement {}
}
