package dev.tollgate.core.message;

/** How the processing of a message ended. */
public enum MessageOutcome {
  /** A token was spent for it and the handler has handled it. */
  PROCESSED(true),
  /** It was handled without a token: the bucket could not be asked, and the tier admits then. */
  PROCESSED_WITHOUT_TOKEN(true),
  /** It was refused because the tenant's bucket is empty; its sender is told. */
  THROTTLED(true),
  /** It was refused because its tenant is suspended or leaves; its sender is told. */
  SUSPENDED(true),
  /** It is not a valid message; its sender is told. */
  BAD_FRAME(true),
  /** It was processed before, under the same name; nothing is done again. */
  DUPLICATE(true),
  /** It came by a socket that was closed because too many of its frames were refused. */
  CUT_OFF(true),
  /** There is no such tenant: nobody's message. */
  DROPPED(true),
  /** The bucket could not be asked, and the tier refuses then. */
  UNDECIDED(false),
  /** It could not be handled, or one before it in its session was not done. */
  FAILED(false);

  private final boolean done;

  MessageOutcome(boolean done) {
    this.done = done;
  }

  /** Whether the message is done with; if not, it has to come again. */
  public boolean isDone() {
    return done;
  }
}
