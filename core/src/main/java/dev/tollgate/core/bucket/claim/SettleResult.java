package dev.tollgate.core.bucket.claim;

/** The result of spending held tokens. */
public sealed interface SettleResult {
  /** All of them are spent. */
  record Spent() implements SettleResult {}

  /**
   * The lease ended before the queue responded. Another caller may hold the tokens now, so they do
   * not count as spent.
   *
   * @param maySpend whether the queue was asked, so that some of them may be spent
   */
  record Lapsed(boolean maySpend) implements SettleResult {}

  /**
   * None of them is spent: the queue reported so, or is missing, or was not asked for lack of
   * credentials.
   *
   * @param cause what failed
   */
  record NotSpent(String cause) implements SettleResult {}

  /**
   * The queue did not respond, or not for all tokens. Some of them may be spent.
   *
   * @param cause what failed
   */
  record Unanswered(String cause) implements SettleResult {}
}
