package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;

/** Watches a {@link Play}, and throws {@link Broke} if a law is broken there. */
interface Witness {
  default void opened(Play play) {}

  default void claiming(Play play) {}

  /**
   * Tokens were claimed.
   *
   * @param tokens how many each caller claimed
   * @param answers one for each caller; several callers claimed at the same time
   */
  default void claimed(Play play, long tokens, List<Claim> answers) {}

  default void spent(Play play, Lease.Spending spending, long tokens) {}

  /**
   * Something was tried to be spent.
   *
   * @param ended whether its lease had ended
   */
  default void spentLease(Play play, Lease lease, Lease.Spending spending, boolean ended) {}

  default void givingBack(Play play) {}

  default void gaveBack(Play play, Lease lease, boolean ended) {}

  default void retuning(Play play) {}

  default void retuned(Play play) {}

  /**
   * A caller was refused and has waited as long as it was told.
   *
   * @param at when the refusal was
   * @param alone whether nobody else held a token then
   * @param then the answer to its claim after the wait
   */
  default void waited(Play play, Claim.Refused refused, Instant at, boolean alone, Claim then) {}

  default void stepped(Play play) {}
}
