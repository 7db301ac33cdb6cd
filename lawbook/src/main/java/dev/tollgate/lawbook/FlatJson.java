package dev.tollgate.lawbook;

import java.util.LinkedHashMap;
import java.util.Map;

/** JSON objects of one line whose values are texts, whole numbers or truth values. */
final class FlatJson {
  private final String text;
  private int at;

  private FlatJson(String text) {
    this.text = text;
  }

  /** Writes texts, numbers and truth values, in the order of the map. */
  static String write(Map<String, Object> fields) {
    StringBuilder line = new StringBuilder("{");
    fields.forEach(
        (name, value) -> {
          line.append(line.length() > 1 ? "," : "").append('"').append(name).append("\":");
          if (value instanceof String string) {
            quote(line, string);
          } else {
            line.append(value);
          }
        });
    return line.append('}').toString();
  }

  private static void quote(StringBuilder line, String text) {
    line.append('"');
    for (char c : text.toCharArray()) {
      if (c < ' ' || c == '"' || c == '\\') {
        line.append("\\u%04x".formatted((int) c));
      } else {
        line.append(c);
      }
    }
    line.append('"');
  }

  /**
   * Reads an object. Fields that are null count as missing.
   *
   * @throws IllegalArgumentException if the line is anything else; the message says what was
   *     expected
   */
  static Map<String, Object> read(String line) {
    FlatJson json = new FlatJson(line);
    Map<String, Object> fields = new LinkedHashMap<>();
    json.expect("{");
    if (!json.skip("}")) {
      do {
        String name = json.string();
        json.expect(":");
        if (!json.skip("null") && fields.put(name, json.value()) != null) {
          throw new IllegalArgumentException("expected each field once, not `" + name + "` again");
        }
      } while (json.skip(","));
      json.expect("}");
    }
    if (!json.text.substring(json.at).isBlank()) {
      throw json.expected("nothing after the object");
    }
    return fields;
  }

  private Object value() {
    if (skip("true")) {
      return true;
    } else if (skip("false")) {
      return false;
    } else if (text.startsWith("\"", at)) {
      return string();
    }
    int start = at;
    while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
    String number = text.substring(start, at);
    try {
      if (number.matches("-?(?:0|[1-9][0-9]*)")) {
        return Long.parseLong(number);
      }
    } catch (NumberFormatException tooLarge) {
      // The same error as for a fraction.
    }
    at = start;
    throw expected("a text, a whole number of 64 bits, true or false");
  }

  private String string() {
    expect("\"");
    StringBuilder string = new StringBuilder();
    while (at < text.length() && text.charAt(at) != '"') {
      char c = text.charAt(at++);
      string.append(c == '\\' ? escaped() : c);
    }
    expect("\"");
    return string.toString();
  }

  private char escaped() {
    int kind = at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at++)) : -1;
    if (kind == 8 && text.substring(at).matches("(?s)[0-9a-fA-F]{4}.*")) {
      at += 4;
      return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    } else if (kind < 0 || kind == 8) {
      throw expected("a valid escape");
    }
    return "\"\\/\b\f\n\r\t".charAt(kind);
  }

  /** Skips a token and the white space around it, if it comes next. */
  private boolean skip(String token) {
    blanks();
    if (!text.startsWith(token, at)) {
      return false;
    }
    at += token.length();
    if (!token.equals("\"")) {
      blanks();
    }
    return true;
  }

  private void blanks() {
    while (at < text.length() && " \t\r".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private void expect(String token) {
    if (!skip(token)) {
      throw expected("`" + token + "`");
    }
  }

  private IllegalArgumentException expected(String what) {
    return new IllegalArgumentException(
        "expected " + what + " at character " + (at + 1) + " of the line");
  }
}
