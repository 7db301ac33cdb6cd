package dev.tollgate.cli.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Reads and writes JSON. Unknown fields are ignored. */
public final class Json {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private Json() {}

  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  public static ObjectNode object(Map<String, ?> fields) {
    return MAPPER.valueToTree(fields);
  }

  /** Maps, lists, strings, numbers and booleans as a document. */
  public static JsonNode tree(Object value) {
    return MAPPER.valueToTree(value);
  }

  /** A document as maps, lists, strings, numbers and booleans. */
  public static Object value(JsonNode document) {
    return MAPPER.convertValue(document, Object.class);
  }

  /** Parses a text; empty if it is not JSON. */
  public static Optional<JsonNode> parse(String text) {
    try {
      JsonNode document = MAPPER.readTree(text);
      return document.isMissingNode() ? Optional.empty() : Optional.of(document);
    } catch (JsonProcessingException e) {
      return Optional.empty();
    }
  }

  /**
   * Parses the content of a file.
   *
   * @param name the file's name in messages
   * @throws Failure with the line number if the text is not JSON
   */
  public static JsonNode read(String name, String text) {
    try {
      JsonNode document = MAPPER.readTree(text);
      if (document.isMissingNode()) {
        throw Failure.usage(name + " is empty (expected: JSON)");
      }
      return document;
    } catch (JsonProcessingException e) {
      int line = e.getLocation() == null ? 1 : e.getLocation().getLineNr();
      throw Failure.usage(name + ": line " + line + " is not JSON: " + e.getOriginalMessage());
    }
  }

  /** The value of a command-line argument: parsed if it is JSON, otherwise a string. */
  public static JsonNode valueOf(String text) {
    try {
      JsonNode value =
          MAPPER.reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).readTree(text);
      return value.isMissingNode() ? TextNode.valueOf(text) : value;
    } catch (JsonProcessingException e) {
      return TextNode.valueOf(text);
    }
  }

  public static String write(JsonNode document) {
    return write(document, false);
  }

  public static String writePretty(JsonNode document) {
    return write(document, true);
  }

  private static String write(JsonNode document, boolean pretty) {
    try {
      return pretty
          ? MAPPER.writerWithDefaultPrettyPrinter().writeValueAsString(document)
          : MAPPER.writeValueAsString(document);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a JSON tree could not be written", e);
    }
  }

  /** A field as text; empty if it is absent or null. */
  public static Optional<String> text(JsonNode document, String field) {
    JsonNode value = document.path(field);
    return value.isMissingNode() || value.isNull() ? Optional.empty() : Optional.of(text(value));
  }

  /** A value for a person: strings without quotes, everything else as JSON. */
  public static String text(JsonNode value) {
    return value.isValueNode() ? value.asText() : value.toString();
  }

  /** An instant rounded up to the second, so that a client that waits for it is not early. */
  public static Optional<String> instant(JsonNode document, String field) {
    return text(document, field)
        .map(
            text -> {
              try {
                Instant exact = Instant.parse(text);
                Instant whole = exact.truncatedTo(ChronoUnit.SECONDS);
                return (whole.equals(exact) ? whole : whole.plusSeconds(1)).toString();
              } catch (DateTimeParseException e) {
                return text;
              }
            });
  }

  /** The values of a document that are not objects, sorted by their dotted paths. */
  public static Map<String, JsonNode> leaves(JsonNode document) {
    Map<String, JsonNode> leaves = new TreeMap<>();
    collect("", document, leaves);
    return leaves;
  }

  private static void collect(String path, JsonNode node, Map<String, JsonNode> leaves) {
    if (node instanceof ObjectNode object) {
      object
          .properties()
          .forEach(
              field ->
                  collect(
                      path.isEmpty() ? field.getKey() : path + "." + field.getKey(),
                      field.getValue(),
                      leaves));
    } else if (!node.isNull()) {
      leaves.put(path, node);
    }
  }
}
