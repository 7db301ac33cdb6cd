package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;

/** Observes a {@link LimiterRun} and throws {@link Violation} if a law is broken. */
interface RunObserver {
  default void opened(LimiterRun play) {}

  default void claiming(LimiterRun play) {}

  /**
   * Tokens were claimed.
   *
   * @param tokens how many each caller claimed
   * @param answers one for each caller; several callers claimed at the same time
   */
  default void claimed(LimiterRun play, long tokens, List<Claim> answers) {}

  default void spent(LimiterRun play, Lease.Spending spending, long tokens) {}

  /**
   * Something was tried to be spent.
   *
   * @param ended whether its lease had ended
   */
  default void spentLease(LimiterRun play, Lease lease, Lease.Spending spending, boolean ended) {}

  default void givingBack(LimiterRun play) {}

  default void gaveBack(LimiterRun play, Lease lease, boolean ended) {}

  default void retuning(LimiterRun play) {}

  default void retuned(LimiterRun play) {}

  /**
   * A caller was refused and has waited as long as it was told.
   *
   * @param at when the refusal was
   * @param alone whether nobody else held a token then
   * @param then the answer to its claim after the wait
   */
  default void waited(
      LimiterRun play, Claim.Refused refused, Instant at, boolean alone, Claim then) {}

  default void stepped(LimiterRun play) {}
}
