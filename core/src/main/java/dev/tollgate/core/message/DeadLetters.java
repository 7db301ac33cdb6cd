package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * The dead letters of tenants: those in the pool's dead-letter queue, and those in a silo's own.
 * Every method throws {@link Unavailable} if the queue service fails.
 */
public interface DeadLetters {
  /**
   * Looks at a tenant's dead letters without removing them, at no more than 1,000 of each queue.
   * Another look or a redrive at the same time hides messages.
   */
  Found find(Search search);

  /**
   * Moves a tenant's dead letters back: to the silo's queue if it accepts messages, else to the
   * pool's. The messages of a group stay in order: those of the pool are older, so the silo's are
   * moved only after all of the pool's. Each message is sent before it is deleted, so a failure
   * loses none. A message that was sent and not deleted is sent again by the next call, which the
   * queue service drops within five minutes.
   *
   * @param max the most messages that are moved, 1 or more
   */
  Redriven redrive(Search search, int max);

  /**
   * Which messages to look for. The messages of other tenants are in the way: to reach those behind
   * them, they are received too, and given back at the end.
   *
   * @param tenant the tenant
   * @param since when the tenant was onboarded: older messages are those of a former tenant of the
   *     same id, and are neither found nor moved
   * @param hasTime whether there is time for another request; to give messages back may then take
   *     as long again
   */
  record Search(TenantId tenant, Instant since, BooleanSupplier hasTime) {}

  /**
   * The dead letters that were found.
   *
   * @param letters those of each group in order
   * @param complete whether these are all; false if the time ran out or messages are hidden
   */
  record Found(List<DeadLetter> letters, boolean complete) {
    /** Copies the list. */
    public Found {
      letters = List.copyOf(letters);
    }
  }

  /**
   * The result of a redrive.
   *
   * @param moved how many messages were moved
   * @param complete whether none of the tenant was left; false if the time ran out, messages are
   *     hidden, or as many as requested were moved
   */
  record Redriven(int moved, boolean complete) {}
}
