package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The message processor under test: it processes each named message once, however often it is sent.
 */
public interface Processor {
  /** For this long after it was processed, a repeated message must not be processed again. */
  Duration KNOWN_FOR = Duration.ofMinutes(5);

  /** Sends the message of this name, possibly not for the first time. */
  Answer send(String name);

  /** How many times the message of this name has been processed. */
  long processed(String name);

  /** When {@link #passedTo} must be called next; empty for never. */
  default Optional<Instant> nextTimer() {
    return Optional.empty();
  }

  /** Reports that the clock has reached {@code now}. */
  default void passedTo(Instant now) {}

  /** The answer to the sender of a message. */
  sealed interface Answer {}

  /** The message was processed, now or earlier. */
  record Processed() implements Answer {}

  /** The message was not processed because the bucket has no token. */
  record Throttled(Duration retryAfter) implements Answer {}

  /** There is no answer yet. */
  record NoAnswer() implements Answer {}

  /** Makes a processor for each history. */
  interface Maker {
    /** Makes a processor without any state of earlier ones. */
    Processor make(Setting setting);
  }
}
