package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;

/**
 * The message queues of silos, each with a dead-letter queue. Every method throws {@link
 * Unavailable} if the queue service fails.
 */
public interface SiloQueues {
  /** Creates the tenant's queues or updates existing ones, and reopens them if they are closed. */
  QueueCreation ensure(TenantId tenant);

  /**
   * Closes the tenant's queue for new messages; those in it stay. Takes effect within a minute (SQS
   * SetQueueAttributes). Does nothing if the queue does not exist.
   */
  void close(TenantId tenant);

  /** Whether the tenant's queue is closed or does not exist. */
  boolean isClosed(TenantId tenant);

  /**
   * The number of messages in the tenant's queue, including those in process; 0 if the queue does
   * not exist. May be too low within a minute of the last send (SQS GetQueueAttributes).
   */
  long depth(TenantId tenant);

  /** Moves the tenant's dead letters to the pool's dead-letter queue. */
  Progress moveDeadLetters(TenantId tenant);

  /** Deletes the tenant's queues and their messages, if they exist. */
  void delete(TenantId tenant);
}
