package dev.tollgate.lawbook;

import java.time.Instant;

/** Watches a {@link Play}, and throws {@link Broke} if a law is broken there. */
interface Witness {
  default void opened(Play play) {}

  default void claiming(Play play) {}

  default void claimed(Play play, Claim claim) {}

  default void spent(Play play, Lease.Spending spending) {}

  /**
   * Something was tried to be spent.
   *
   * @param ended whether its lease had ended
   */
  default void spentLease(Play play, Lease.Spending spending, boolean ended) {}

  default void givingBack(Play play) {}

  default void gaveBack(Play play, boolean ended) {}

  default void retuning(Play play) {}

  default void retuned(Play play) {}

  /**
   * Whoever was refused has waited alone.
   *
   * @param at when the refusal was
   * @param then what a claim came to after the wait
   */
  default void waited(Play play, Claim.Refused refused, Instant at, Claim then) {}

  default void stepped(Play play) {}
}
