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
    return read(text, MAPPER.getFactory(), parser -> value(parser, ""));
  }

  /**
   * Reads a JSON object, and one of its members as a text: the source text of its value.
   *
   * @throws InvalidValue if the text is not exactly one JSON object
   */
  static JsonNode read(String text, String verbatim) {
    return read(
        text,
        VerbatimJson.FACTORY,
        parser -> {
          InvalidValue.unless(
              parser.currentToken() == JsonToken.START_OBJECT, "body", text, "a JSON object");
          return object(
              parser,
              "",
              name ->
                  name.equals(verbatim)
                      ? NODES.textNode(VerbatimJson.slice(text, parser))
                      : value(parser, name + "."));
        });
  }

  private static JsonNode read(String text, JsonFactory factory, Reading reading) {
    try (JsonParser parser = factory.createParser(text)) {
      try {
        InvalidValue.unless(parser.nextToken() != null, "body", "", "a JSON object");
        JsonNode value = reading.of(parser);
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
      case START_OBJECT -> object(parser, path, name -> value(parser, path + name + "."));
      case START_ARRAY -> array(parser, path);
      case VALUE_NUMBER_INT -> NODES.numberNode(parser.getBigIntegerValue());
      case VALUE_NUMBER_FLOAT -> NODES.numberNode(parser.getDecimalValue());
      case VALUE_TRUE -> NODES.booleanNode(true);
      case VALUE_FALSE -> NODES.booleanNode(false);
      case VALUE_NULL -> NODES.nullNode();
      default -> NODES.textNode(parser.getText());
    };
  }

  private static ObjectNode object(JsonParser parser, String path, Member member)
      throws IOException {
    ObjectNode object = NODES.objectNode();
    while (parser.nextToken() != JsonToken.END_OBJECT) {
      String name = parser.currentName();
      String child = path + name;
      InvalidValue.unless(!object.has(name), child, "given twice", "given once");
      parser.nextToken();
      object.set(name, member.of(name));
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

  /** Reads a value at the parser's current token. */
  private interface Reading {
    JsonNode of(JsonParser parser) throws IOException;
  }

  /** Reads the value of a member. */
  private interface Member {
    JsonNode of(String name) throws IOException;
  }
}
