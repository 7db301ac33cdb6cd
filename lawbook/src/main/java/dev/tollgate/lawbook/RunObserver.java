package dev.tollgate.lawbook;

import java.time.Instant;
import java.util.List;

/** Observes a {@link LimiterRun} and throws {@link Violation} if a law is broken. */
interface RunObserver {
  default void opened(LimiterRun run) {}

  default void claiming(LimiterRun run) {}

  /**
   * Called after a claim.
   *
   * @param tokens the number that each caller claimed
   * @param answers one per caller; several callers claimed at the same time
   */
  default void claimed(LimiterRun run, long tokens, List<Claim> answers) {}

  default void spent(LimiterRun run, Lease.Spending spending, long tokens) {}

  /**
   * Called after an attempt to spend a lease.
   *
   * @param ended whether its lease had ended
   */
  default void spentLease(LimiterRun run, Lease lease, Lease.Spending spending, boolean ended) {}

  default void givingBack(LimiterRun run) {}

  default void gaveBack(LimiterRun run, Lease lease, boolean ended) {}

  default void retuning(LimiterRun run) {}

  default void retuned(LimiterRun run) {}

  /**
   * Called after a refused caller has waited for its retry time and claimed again.
   *
   * @param at the time of the refusal
   * @param alone whether no lease was open then
   * @param then the answer to its claim after the wait
   */
  default void waited(
      LimiterRun run, Claim.Refused refused, Instant at, boolean alone, Claim then) {}

  default void stepped(LimiterRun run) {}
}
