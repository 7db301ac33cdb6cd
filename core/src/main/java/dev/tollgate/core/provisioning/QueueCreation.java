package dev.tollgate.core.provisioning;

/** The result of creating a queue. */
public enum QueueCreation {
  /** The queue is new and usable after a second (SQS CreateQueue). */
  CREATED,
  /** The queue existed before. */
  EXISTED,
  /**
   * A queue of this name was deleted within the last 60 seconds; retry later (SQS
   * QueueDeletedRecently).
   */
  RECENTLY_DELETED
}
