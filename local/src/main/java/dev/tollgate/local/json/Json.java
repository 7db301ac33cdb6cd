package dev.tollgate.local.json;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/** JSON texts and trees, all of one mapper. */
public final class Json {
  /** The mapper, for libraries that need one. */
  public static final JsonMapper MAPPER = new JsonMapper();

  /** Refuses anything after the value and keeps all digits of a number. */
  private static final JsonMapper STRICT =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private Json() {}

  /** An empty object. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** An empty array. */
  public static ArrayNode array() {
    return MAPPER.createArrayNode();
  }

  /** An object with one member. */
  public static ObjectNode object(String member, JsonNode value) {
    ObjectNode object = object();
    object.set(member, value);
    return object;
  }

  /**
   * Reads a text that may be empty.
   *
   * @return a {@link MissingNode} for an empty text
   * @throws JsonProcessingException if it is not JSON
   */
  public static JsonNode read(String text) throws JsonProcessingException {
    return MAPPER.readTree(text);
  }

  /**
   * Reads bytes that may be empty.
   *
   * @return a {@link MissingNode} for no bytes
   * @throws IOException if they are not JSON
   */
  public static JsonNode read(byte[] bytes) throws IOException {
    return MAPPER.readTree(bytes);
  }

  /** Reads a text that need not be JSON; then the result is a {@link MissingNode}. */
  public static JsonNode readOrMissing(String text) {
    try {
      return read(text);
    } catch (JsonProcessingException e) {
      return MissingNode.getInstance();
    }
  }

  /**
   * Reads a text that should be an object; the result is an empty object if it is something else.
   */
  public static ObjectNode readObject(String text) {
    return readOrMissing(text) instanceof ObjectNode object ? object : object();
  }

  /**
   * Reads exactly one value.
   *
   * @throws JsonProcessingException if the text is not JSON, is empty or holds more than one value
   */
  public static JsonNode readStrictly(String text) throws JsonProcessingException {
    JsonNode value = STRICT.readTree(text);
    if (value.isMissingNode()) {
      throw new JsonProcessingException("empty") {
        private static final long serialVersionUID = 1L;
      };
    }
    return value;
  }

  /** The bytes of a value in UTF-8. */
  public static byte[] bytes(JsonNode value) {
    return value.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** A time as the AWS APIs write it: seconds since the epoch, to the millisecond. */
  public static BigDecimal epochSeconds(Instant time) {
    return BigDecimal.valueOf(time.toEpochMilli(), 3);
  }
}
