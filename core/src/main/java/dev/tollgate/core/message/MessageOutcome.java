package dev.tollgate.core.message;

/** How the processing of a message ended. */
public enum MessageOutcome {
  /** The handler succeeded, and a token was spent unless the limit is off or it was redriven. */
  PROCESSED(true),
  /** The handler succeeded without a token: the queue failed, and the tier admits then. */
  PROCESSED_WITHOUT_TOKEN(true),
  /** The handler succeeded without a token: the bucket is empty, and its limit is observed. */
  WOULD_THROTTLE(true),
  /** Refused because the tenant's bucket is empty; the sender gets a frame. */
  THROTTLED(true),
  /** Refused because its tenant is not active; the sender gets a frame. */
  SUSPENDED(true),
  /** Not a valid message; the sender gets a frame. */
  BAD_FRAME(true),
  /** Processed before under the same name; the handler does not run again. */
  DUPLICATE(true),
  /** Ignored, because its socket was closed after too many refused frames. */
  CUT_OFF(true),
  /** Ignored, because its tenant does not exist. */
  DROPPED(true),
  /** The queue failed, and the tier refuses then. */
  UNDECIDED(false),
  /** The handler failed, or an earlier message of its session was not done. */
  FAILED(false);

  private final boolean done;

  MessageOutcome(boolean done) {
    this.done = done;
  }

  /** Whether the message is done; if not, the queue must deliver it again. */
  public boolean isDone() {
    return done;
  }
}
