package dev.tollgate.core.message;

/** What became of a message. */
public enum Outcome {
  /** It was paid for and handled, and its replies are sent. */
  PROCESSED(true),
  /** It was handled without a token: the bucket could not be asked, and the tier admits then. */
  PROCESSED_WITHOUT_TOKEN(true),
  /** It was refused since the tenant's bucket is empty; its sender knows. */
  THROTTLED(true),
  /** It is no message; its sender knows. */
  BAD_FRAME(true),
  /** There is no such tenant: nobody's message. */
  DROPPED(true),
  /** The bucket could not be asked, and the tier refuses then. */
  UNDECIDED(false),
  /** It could not be handled, or one before it in its session was not done. */
  FAILED(false);

  private final boolean done;

  Outcome(boolean done) {
    this.done = done;
  }

  /** Whether the message is done with; if not, it has to come again. */
  public boolean isDone() {
    return done;
  }
}
