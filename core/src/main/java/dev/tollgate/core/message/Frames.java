package dev.tollgate.core.message;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;

/** Writes the frames that are sent to sockets. */
public interface Frames {
  /** What another socket of the session sent. */
  String message(String id, String json);

  /**
   * What the application replies.
   *
   * @throws InvalidValue if that is not JSON, or too long for a frame
   */
  String reply(String id, String json);

  /** A message was refused for now. */
  String throttled(String id, Duration retryAfter);

  /** A message was refused because its tenant is not active. */
  String suspended(String id);

  /** A frame was no message. */
  String badFrame(String id, String flaw);
}
