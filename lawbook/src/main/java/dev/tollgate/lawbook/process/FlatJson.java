package dev.tollgate.lawbook.process;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** JSON objects of one line whose values are texts, whole numbers or truth values. */
final class FlatJson {
  private static final String TEXT =
      "\"(%1$s(?:\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4})%1$s)*)\"".formatted("[^\"\\\\\\p{Cntrl}]*");

  /** A field, and the comma before the next one or the brace that ends the line. */
  private static final Pattern FIELD =
      Pattern.compile(
          "\\s*%s\\s*:\\s*(?:%s|(-?(?:0|[1-9]\\d{0,17}))|(true|false|null))\\s*(?:,(?=\\s*\")|}$)"
              .formatted(TEXT, TEXT));

  private static final Pattern ESCAPE = Pattern.compile("\\\\(?:u([0-9a-fA-F]{4})|(.))");

  private FlatJson() {}

  /** Writes texts, numbers and truth values, in the order of the map. */
  static String write(Map<String, Object> fields) {
    return fields.entrySet().stream()
        .map(field -> quote(field.getKey()) + ":" + literal(field.getValue()))
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String literal(Object value) {
    return value instanceof String text ? quote(text) : value.toString();
  }

  /** A text without control characters. JSON escapes quotes and backslashes as Java does. */
  private static String quote(String text) {
    return "\"" + text.replaceAll("[\"\\\\]", "\\\\$0") + "\"";
  }

  /**
   * Reads an object. Fields that are null count as missing.
   *
   * @throws IllegalArgumentException if the line is anything else
   */
  static Map<String, Object> read(String line) {
    String text = line.strip();
    Map<String, Object> fields = new LinkedHashMap<>();
    Matcher field = FIELD.matcher(text);
    int at = text.startsWith("{") ? 1 : 0;
    while (at > 0 && field.region(at, text.length()).lookingAt()) {
      at = field.end();
      if (!"null".equals(field.group(4)) && fields.put(field.group(1), value(field)) != null) {
        throw new IllegalArgumentException("expected `" + field.group(1) + "` only once");
      }
    }
    if (!text.matches("\\{\\s*}") && (at < text.length() || !text.endsWith("}"))) {
      throw new IllegalArgumentException(
          "expected an object of texts, whole numbers, true and false at character " + (at + 1));
    }
    return fields;
  }

  private static Object value(MatchResult field) {
    if (field.group(3) != null) {
      return Long.valueOf(field.group(3));
    } else if (field.group(4) != null) {
      return field.group(4).equals("true");
    }
    return ESCAPE.matcher(field.group(2)).replaceAll(FlatJson::unescaped);
  }

  private static String unescaped(MatchResult escape) {
    int letter = "bfnrt".indexOf(escape.group(2) == null ? ' ' : escape.group(2).charAt(0));
    String character =
        escape.group(1) != null
            ? String.valueOf((char) Integer.parseInt(escape.group(1), 16))
            : letter < 0 ? escape.group(2) : "\b\f\n\r\t".substring(letter, letter + 1);
    return Matcher.quoteReplacement(character);
  }
}
