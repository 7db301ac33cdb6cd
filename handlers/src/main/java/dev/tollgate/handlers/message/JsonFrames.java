package dev.tollgate.handlers.message;

import com.fasterxml.jackson.core.JsonGenerator;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.message.Frames;
import dev.tollgate.http.VerbatimJson;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * Writes the server's frames as JSON. The messages inside keep the bytes that their sender wrote.
 */
final class JsonFrames implements Frames {
  /** The bytes that a frame adds to the message inside. A client's own frame adds more. */
  private static final int FRAME_OVERHEAD = withMessage("message", "", "").length();

  @Override
  public String message(String id, String json) {
    return withMessage("message", id, json);
  }

  @Override
  public String reply(String id, String json) {
    checkLength("reply", id.length(), json);
    InvalidValue.unless(VerbatimJson.isJson(json), "reply", json, "a JSON text");
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
    int max = MAX_BYTES - FRAME_OVERHEAD - idLength;
    InvalidValue.unless(bytes <= max, field, bytes + " bytes", "at most " + max + " bytes");
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
    try (JsonGenerator generator = VerbatimJson.FACTORY.createGenerator(frame)) {
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
