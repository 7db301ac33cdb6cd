package dev.tollgate.socket;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads JSON objects, whose members it leaves as they were written. */
final class Json {
  private static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  // A message may be nested 1000 deep, and a frame is around it.
                  .maxNestingDepth(2_000)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .build())
          .build();

  private final Map<String, String> members;

  private Json(Map<String, String> members) {
    this.members = members;
  }

  /** Parses a text; without members if it is not exactly one JSON object. */
  static Json object(String text) {
    Map<String, String> members = new LinkedHashMap<>();
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return new Json(Map.of());
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        parser.nextToken();
        int from = (int) parser.currentTokenLocation().getCharOffset();
        parser.skipChildren();
        parser.finishToken();
        members.put(name, text.substring(from, end(parser)));
      }
      return parser.nextToken() == null ? new Json(members) : new Json(Map.of());
    } catch (IOException malformed) {
      return new Json(Map.of());
    }
  }

  private static int end(JsonParser parser) {
    return (int) parser.currentLocation().getCharOffset();
  }

  /** Whether a text is exactly one JSON value. */
  static boolean isValue(String text) {
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      parser.finishToken();
      return parser.nextToken() == null;
    } catch (IOException malformed) {
      return false;
    }
  }

  /** A member as it was written. */
  Optional<String> raw(String name) {
    return Optional.ofNullable(members.get(name)).map(String::strip);
  }

  /** A member that is a text. */
  Optional<String> text(String name) {
    return raw(name).filter(value -> value.startsWith("\"")).map(Json::decoded);
  }

  /** A member that is a whole number. */
  OptionalLong number(String name) {
    return raw(name)
        .filter(value -> value.matches("[0-9]{1,15}"))
        .map(value -> OptionalLong.of(Long.parseLong(value)))
        .orElse(OptionalLong.empty());
  }

  /** A member that is an object; without members if it is something else. */
  Json child(String name) {
    return object(raw(name).orElse(""));
  }

  private static String decoded(String raw) {
    try (JsonParser parser = FACTORY.createParser(raw)) {
      parser.nextToken();
      return parser.getText();
    } catch (IOException malformed) {
      return "";
    }
  }
}
