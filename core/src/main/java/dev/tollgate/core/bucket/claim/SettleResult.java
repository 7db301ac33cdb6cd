package dev.tollgate.core.bucket.claim;

/** What became of held tokens that were to be spent. */
public sealed interface SettleResult {
  /** All of them are spent. */
  record Spent() implements SettleResult {}

  /**
   * The lease ended before the queue answered. Whoever holds the tokens now may spend them, so they
   * do not count as spent here.
   */
  record Lapsed() implements SettleResult {}

  /**
   * The queue answered that some of them are not spent, or that there is no such queue.
   *
   * @param cause what failed
   */
  record NotSpent(String cause) implements SettleResult {}

  /**
   * The queue gave no answer. Nobody knows whether they are spent.
   *
   * @param cause what failed
   */
  record Unanswered(String cause) implements SettleResult {}
}
