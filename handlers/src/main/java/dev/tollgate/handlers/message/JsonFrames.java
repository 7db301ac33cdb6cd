package dev.tollgate.handlers.message;

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

/**
 * Writes the server's frames as JSON. The messages inside keep the bytes that their sender wrote.
 */
final class JsonFrames implements Frames {
  private static final int MAX_DEPTH = 1_000;

  /** The limits on a document's structure, in words. */
  static final String CONSTRAINTS = "nested at most " + MAX_DEPTH + " deep";

  /**
   * Accepts any JSON that fits into a frame, however long its numbers and texts. It does not intern
   * field names, because clients choose them.
   */
  static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  /**
   * The most bytes that API Gateway sends as one message.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas
   *     for configuring and running a WebSocket API</a>
   */
  private static final int MAX_FRAME_BYTES = 128 * 1024;

  /** The bytes that a frame adds to the message inside. A client's own frame adds more. */
  private static final int FRAME_OVERHEAD = withMessage("message", "", "").length();

  @Override
  public String message(String id, String json) {
    return withMessage("message", id, json);
  }

  @Override
  public String reply(String id, String json) {
    checkLength("reply", id.length(), json);
    InvalidValue.unless(isJson(json), "reply", json, "a JSON text");
    return withMessage("reply", id, json);
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
   * Checks that a message fits into a frame.
   *
   * @param idLength the number of characters of the frame's id
   * @throws InvalidValue if the message is too long
   */
  static void checkLength(String field, int idLength, String json) {
    int bytes = json.getBytes(StandardCharsets.UTF_8).length;
    int max = MAX_FRAME_BYTES - FRAME_OVERHEAD - idLength;
    InvalidValue.unless(bytes <= max, field, bytes + " bytes", "at most " + max + " bytes");
  }

  /** The source text of the parser's current value. The parser moves to the end of the value. */
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

  private static String withMessage(String type, String id, String json) {
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

  /** Writes the fields that follow a frame's type and id. */
  private interface Fields {
    void write(JsonGenerator generator) throws IOException;
  }
}
