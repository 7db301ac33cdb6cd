package dev.tollgate.handlers;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.message.Frames;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** The server's frames as JSON. What is passed on in them is passed on as it was written. */
final class JsonFrames implements Frames {
  private static final int DEEPEST = 1_000;

  /** What a document must keep to, in words. */
  static final String CONSTRAINTS = "nested at most " + DEEPEST + " deep";

  /**
   * Takes any JSON that fits into a frame, however long its numbers and texts. It keeps no names:
   * these are strangers'.
   */
  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(DEEPEST)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  /**
   * What API Gateway sends as one message, in bytes.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas
   *     for configuring and running a WebSocket API</a>
   */
  private static final int LONGEST_FRAME = 128 * 1024;

  /** What a frame adds to what it passes on. A client's own frame, with an id, adds more. */
  private static final int FRAME = passedOn("message", "", "").length();

  @Override
  public String message(String id, String json) {
    return passedOn("message", id, json);
  }

  @Override
  public String reply(String id, String json) {
    checkLength("reply", id.length(), json);
    InvalidValue.unless(isJson(json), "reply", json, "a JSON text");
    return passedOn("reply", id, json);
  }

  @Override
  public String throttled(String id, Duration retryAfter) {
    return error(
        id,
        "THROTTLED",
        "the tenant sent as many messages as messagesPerMinute allows",
        generator ->
            generator.writeNumberField(
                "retryAfterSeconds", Math.max(1, retryAfter.plusNanos(999_999_999).toSeconds())));
  }

  @Override
  public String suspended(String id) {
    return error(id, "SUSPENDED", "the tenant is not active", generator -> {});
  }

  @Override
  public String badFrame(String id, String flaw) {
    return error(id, "BAD_FRAME", flaw, generator -> {});
  }

  /**
   * Refuses a text that is too long to be passed on in a frame.
   *
   * @param idLength characters of the frame's id
   * @throws InvalidValue if it is
   */
  static void checkLength(String field, int idLength, String json) {
    int bytes = json.getBytes(StandardCharsets.UTF_8).length;
    int longest = LONGEST_FRAME - FRAME - idLength;
    InvalidValue.unless(bytes <= longest, field, bytes + " bytes", "at most " + longest + " bytes");
  }

  /** The part of a text that the value is which the parser has come to; the parser goes past it. */
  static String slice(String text, JsonParser parser) throws IOException {
    int start = (int) parser.currentTokenLocation().getCharOffset();
    parser.skipChildren();
    parser.finishToken();
    return text.substring(start, (int) parser.currentLocation().getCharOffset());
  }

  private static boolean isJson(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (JsonProcessingException malformed) {
      return false;
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static String passedOn(String type, String id, String json) {
    return frame(
        type,
        id,
        generator -> {
          generator.writeFieldName("message");
          generator.writeRawValue(json);
        });
  }

  private static String error(String id, String code, String detail, Fields more) {
    return frame(
        "error",
        id,
        generator -> {
          generator.writeStringField("code", code);
          generator.writeStringField("detail", detail);
          more.write(generator);
        });
  }

  private static String frame(String type, String id, Fields more) {
    StringWriter frame = new StringWriter();
    try (JsonGenerator generator = FACTORY.createGenerator(frame)) {
      generator.writeStartObject();
      generator.writeStringField("type", type);
      generator.writeStringField("id", id);
      more.write(generator);
      generator.writeEndObject();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return frame.toString();
  }

  /** Writes fields of a frame. */
  private interface Fields {
    void write(JsonGenerator generator) throws IOException;
  }
}
