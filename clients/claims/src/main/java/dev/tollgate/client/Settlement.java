package dev.tollgate.client;

/** The result of spending a reservation. */
public sealed interface Settlement {
  /** All its tokens are spent. */
  record Spent() implements Settlement {}

  /**
   * The lease ended before the tokens were spent. Other callers may hold them, so they do not count
   * as spent.
   */
  record Lapsed() implements Settlement {}

  /**
   * The queue did not confirm that all tokens are spent; some may be spent, the others return when
   * their lease ends.
   *
   * @param cause the failure, for logs
   */
  record Unknown(String cause) implements Settlement {}
}
