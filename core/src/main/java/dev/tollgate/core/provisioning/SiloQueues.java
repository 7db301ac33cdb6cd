package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;

/**
 * The queues that tenants have for their messages alone, each with one for its dead letters. Every
 * method throws {@link Unavailable} if that could not be asked.
 */
public interface SiloQueues {
  /**
   * Makes the tenant's queues, or brings those that are there to what they should be. They take
   * messages then, though they may have been closed before.
   */
  QueueCreation ensure(TenantId tenant);

  /**
   * Has the tenant's queue take no more messages; those in it stay. In force after a minute (SQS
   * SetQueueAttributes). Harmless if there is none.
   */
  void close(TenantId tenant);

  /** Whether the tenant's queue has been closed since it was made; so is one that is not there. */
  boolean isClosed(TenantId tenant);

  /**
   * Messages in the tenant's queue, those being processed too; 0 if there is no queue. It may tell
   * of too few until a minute after the last was sent (SQS GetQueueAttributes).
   */
  long depth(TenantId tenant);

  /** Moves the tenant's dead letters to those of the pool. Harmless if there are none. */
  Progress moveDeadLetters(TenantId tenant);

  /** Deletes the tenant's queues and what is in them; harmless if there are none. */
  void delete(TenantId tenant);
}
