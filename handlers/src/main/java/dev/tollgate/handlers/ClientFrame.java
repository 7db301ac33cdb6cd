package dev.tollgate.handlers;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.message.IncomingMessage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A frame as a client sent it: {@code {"action":…,"id":…,"message":…}}. What it says beside that is
 * let through, but no name may come twice: of two messages one would be lost.
 *
 * @param id the client's name for it, if it gave one that can be used
 * @param content the message as it stands in the frame, byte for byte: to read it and write it anew
 *     would change numbers, escapes and white space
 */
record ClientFrame(Optional<String> id, IncomingMessage.Content content) {
  /** Of the UUID that SQS gives a message. */
  private static final int QUEUE_ID_LENGTH = 36;

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /** Reads a frame. */
  static ClientFrame of(String text) {
    Reading reading = new Reading(text);
    try {
      reading.read();
      String message =
          reading.message.orElseThrow(() -> new InvalidValue("message", "missing", "any JSON"));
      JsonFrames.checkLength(
          "message", reading.id.map(String::length).orElse(QUEUE_ID_LENGTH), message);
      return new ClientFrame(reading.id, new IncomingMessage.Message(message));
    } catch (InvalidValue flaw) {
      return new ClientFrame(
          reading.id, new IncomingMessage.Unreadable(String.valueOf(flaw.getMessage())));
    }
  }

  /** What has been read of a frame so far. */
  private static final class Reading {
    private final String text;
    private final Set<String> names = new HashSet<>();
    private Optional<String> id = Optional.empty();
    private Optional<String> message = Optional.empty();

    Reading(String text) {
      this.text = text;
    }

    void read() {
      try (JsonParser parser = JsonFrames.FACTORY.createParser(text)) {
        InvalidValue.unless(
            parser.nextToken() == JsonToken.START_OBJECT, "frame", text, "a JSON object");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          InvalidValue.unless(names.add(name), name, "given twice", "given once");
          parser.nextToken();
          switch (name) {
            case "id" -> id = id(parser);
            case "message" -> message = Optional.of(JsonFrames.slice(text, parser));
            default -> parser.skipChildren();
          }
        }
        InvalidValue.unless(
            parser.nextToken() == null, "frame", text, "nothing after the JSON object");
      } catch (StreamConstraintsException tooMuch) {
        throw new InvalidValue("frame", text, JsonFrames.CONSTRAINTS);
      } catch (JsonProcessingException malformed) {
        throw new InvalidValue("frame", text, "JSON (RFC 8259)");
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
    }

    /** A number is as good as its text: that is what the frame was accepted under. */
    private static Optional<String> id(JsonParser parser) throws IOException {
      if (parser.currentToken() == JsonToken.VALUE_NULL || parser.getText().isEmpty()) {
        return Optional.empty();
      }
      boolean scalar = parser.currentToken().isScalarValue();
      String value = scalar ? parser.getText() : "no text";
      InvalidValue.unless(scalar && ID.matcher(value).matches(), "id", value, ID.pattern());
      return Optional.of(value);
    }
  }
}
