package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.util.List;

/**
 * The dead letters of tenants: those in the pool's dead-letter queue, and those in a silo's own.
 * Every method throws {@link Unavailable} if the queue service fails.
 */
public interface DeadLetters {
  /**
   * Looks at a tenant's dead letters without removing them: at no more than 100 messages of each
   * queue. Another look or a redrive at the same time hides messages.
   */
  Found find(TenantId tenant);

  /**
   * Moves a tenant's dead letters back: to the silo's queue if it accepts messages, else to the
   * pool's. The messages of a group stay in order. Each message is sent before it is deleted, so a
   * failure loses none. A message that was sent and not deleted is sent again by the next call,
   * which the queue service drops within five minutes.
   *
   * @param max the most messages that are moved, 1 or more
   */
  Redriven redrive(TenantId tenant, int max);

  /**
   * The dead letters that were found.
   *
   * @param letters those of each group in order
   * @param complete whether all messages of the queues were looked at
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
   * @param complete whether all messages of the queues were looked at and none of the tenant was
   *     left
   */
  record Redriven(int moved, boolean complete) {}
}
