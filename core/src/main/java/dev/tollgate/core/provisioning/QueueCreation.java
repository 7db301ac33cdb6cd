package dev.tollgate.core.provisioning;

/** What became of a queue that was to be made. */
public enum QueueCreation {
  /** It is new: it can be used after a second (SQS CreateQueue). */
  CREATED,
  /** It was there. */
  EXISTED,
  /**
   * A queue of this name was deleted less than 60 seconds ago; try again later (SQS
   * QueueDeletedRecently).
   */
  RECENTLY_DELETED
}
