package dev.tollgate.socket;

import java.time.Duration;
import java.util.Optional;

/** A frame from the server. */
sealed interface Frame {
  /** A message is in the queue. */
  record Accepted(String id) implements Frame {}

  /** Another socket of the session sent this. */
  record Message(String id, String json) implements Frame {}

  /** The application answers. */
  record Reply(String id, String json) implements Frame {}

  /** The backend sent this unasked. */
  record Push(String id, String json) implements Frame {}

  /** A message is over the tenant's rate. */
  record Throttled(String id, Duration retryAfter) implements Frame {}

  /** A message is not processed, and will not be. */
  record Refused(Optional<String> id, String code, String detail) implements Frame {}

  /** A message may not be in the queue. */
  record Unavailable() implements Frame {}

  /** A frame of a newer server. */
  record Unknown() implements Frame {}

  /** Parses a frame. */
  static Frame parse(String text) {
    Json frame = Json.object(text);
    Optional<String> id = frame.text("id");
    return switch (frame.text("type").orElse("")) {
      case "accepted" -> new Accepted(id.orElse(""));
      case "message" -> new Message(id.orElse(""), frame.raw("message").orElse("null"));
      case "reply" -> new Reply(id.orElse(""), frame.raw("message").orElse("null"));
      case "push" -> new Push(id.orElse(""), frame.raw("message").orElse("null"));
      case "error" -> error(frame, id);
      // API Gateway's own words have no type.
      default -> frame.text("connectionId").isPresent() ? new Unavailable() : new Unknown();
    };
  }

  private static Frame error(Json frame, Optional<String> id) {
    String code = frame.text("code").orElse("");
    if (code.equals("UNAVAILABLE")) {
      return new Unavailable();
    }
    if (code.equals("THROTTLED") && id.isPresent()) {
      long seconds = Math.max(1, frame.number("retryAfterSeconds").orElse(1));
      return new Throttled(id.get(), Duration.ofSeconds(seconds));
    }
    return new Refused(id, code, frame.text("detail").orElse(""));
  }
}
