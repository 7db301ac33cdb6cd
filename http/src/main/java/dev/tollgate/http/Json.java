package dev.tollgate.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.InvalidValue;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Reads and writes JSON (RFC 8259). A name that occurs twice in an object is refused. */
final class Json {
  private static final int MAX_DEPTH = 32;
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final JsonMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
                  .build())
          .enable(JsonGenerator.Feature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  private Json() {}

  /**
   * Reads one JSON value.
   *
   * @throws InvalidValue if the text is not exactly one JSON value
   */
  static JsonNode read(String text) {
    try (JsonParser parser = MAPPER.createParser(text)) {
      try {
        InvalidValue.unless(parser.nextToken() != null, "body", "", "a JSON object");
        JsonNode value = value(parser, "");
        InvalidValue.unless(
            parser.nextToken() == null, "body", text, "nothing after the JSON object");
        return value;
      } catch (JsonProcessingException malformed) {
        throw new InvalidValue("body", text, "JSON (RFC 8259)");
      } catch (NumberFormatException tooLong) {
        throw new InvalidValue("body", text, "numbers with short exponents");
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static JsonNode value(JsonParser parser, String path) throws IOException {
    return switch (parser.currentToken()) {
      case START_OBJECT -> object(parser, path);
      case START_ARRAY -> array(parser, path);
      case VALUE_NUMBER_INT -> NODES.numberNode(parser.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> NODES.numberNode(parser.getDecimalValue());
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NULL -> NODES.nullNode();
      default -> NODES.textNode(parser.getText());
    };
  }

  private static ObjectNode object(JsonParser parser, String path) throws IOException {
    ObjectNode object = NODES.objectNode();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      String child = path + name;
      InvalidValue.unless(!object.has(name), child, "given twice", "given once");
      parser.nextToken();
      object.set(name, value(parser, child + "."));
    }
    return object;
  }

  private static ArrayNode array(JsonParser parser, String path) throws IOException {
    ArrayNode array = NODES.arrayNode();
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      array.add(value(parser, path));
    }
    return array;
  }

  /** Writes a document of maps, lists, strings, numbers and booleans. */
  static String write(Object document) {
    try {
      return MAPPER.writeValueAsString(document);
    } catch (JsonProcessingException unwritable) {
      throw new UncheckedIOException(unwritable);
    }
  }
}
