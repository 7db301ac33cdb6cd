package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** What processes messages that have names, on trial: each once, however often it is sent. */
public interface Processor {
  /** A message that was processed may be sent again for so long without being processed twice. */
  Duration KNOWN_FOR = Duration.ofMinutes(5);

  /** The message of this name is sent, perhaps for the second time. */
  Answer send(String name);

  /** How often the message of this name has been processed. */
  long processed(String name);

  /** When this wants to be told next that time has passed; empty if it never needs to be. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** The clock has come to this instant. */
  default void passedTo(Instant now) {}

  /** What the sender of a message is told. */
  sealed interface Answer {}

  /** The message is processed, now or before. */
  record Processed() implements Answer {}

  /** The message is not processed: there is no token for it. */
  record Throttled(Duration retryAfter) implements Answer {}

  /** Nothing is told yet. */
  record NoAnswer() implements Answer {}

  /** Makes what processes, anew for each history. */
  interface Maker {
    /** One that knows nothing of an earlier one. */
    Processor make(Setting setting);
  }
}
