package dev.tollgate.handlers.message;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.message.IncomingMessage;
import dev.tollgate.http.VerbatimJson;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A frame that a client sent: {@code {"action":…,"id":…,"message":…}}. Other members are ignored. A
 * name that occurs twice makes the frame invalid: otherwise one of two messages would be lost.
 *
 * @param id the client's id of the message; empty if the client sent none, or an invalid one
 * @param content the message byte for byte. Parsing and writing it again would change numbers,
 *     escapes and white space.
 */
record ClientFrame(Optional<String> id, IncomingMessage.Content content) {
  /** The length of the UUID that SQS assigns to a message. */
  private static final int QUEUE_ID_LENGTH = 36;

  private static final Pattern ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");

  /** Parses a frame. */
  static ClientFrame of(String text) {
    FrameParser parser = new FrameParser(text);
    try {
      parser.parse();
      String message =
          parser.message.orElseThrow(() -> new InvalidValue("message", "missing", "any JSON"));
      JsonFrames.checkLength(
          "message", parser.id.map(String::length).orElse(QUEUE_ID_LENGTH), message);
      return new ClientFrame(parser.id, new IncomingMessage.Message(message));
    } catch (InvalidValue invalid) {
      return new ClientFrame(
          parser.id, new IncomingMessage.Unreadable(String.valueOf(invalid.getMessage())));
    }
  }

  /** Parses one frame. After an error it keeps the members that it has parsed so far. */
  private static final class FrameParser {
    private final String text;
    private final Set<String> names = new HashSet<>();
    private Optional<String> id = Optional.empty();
    private Optional<String> message = Optional.empty();

    FrameParser(String text) {
      this.text = text;
    }

    void parse() {
      try (JsonParser parser = VerbatimJson.FACTORY.createParser(text)) {
        InvalidValue.unless(
            parser.nextToken() == JsonToken.START_OBJECT, "frame", text, "a JSON object");
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          InvalidValue.unless(names.add(name), name, "given twice", "given once");
          parser.nextToken();
          switch (name) {
            case "id" -> id = id(parser);
            case "message" -> message = Optional.of(VerbatimJson.slice(text, parser));
            default -> parser.skipChildren();
          }
        }
        InvalidValue.unless(
            parser.nextToken() == null, "frame", text, "nothing after the JSON object");
      } catch (StreamConstraintsException tooMuch) {
        throw new InvalidValue("frame", text, VerbatimJson.CONSTRAINTS);
      } catch (JsonProcessingException malformed) {
        throw new InvalidValue("frame", text, "JSON (RFC 8259)");
      } catch (IOException impossible) {
        throw new UncheckedIOException(impossible);
      }
    }

    /** The id as text. A number counts as its text, as in the deduplication id of the queue. */
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
