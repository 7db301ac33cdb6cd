package dev.tollgate.cli.apply;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The value of a tenant's override: a whole number for a limit, true or false for {@code line}, a
 * text for a mode. The name of a mode begins with {@code modes.}.
 *
 * @param json the value in requests
 */
public record OverrideValue(@JsonValue JsonNode json) {
  /** Makes numbers of different sizes comparable. */
  public OverrideValue {
    if (json.isIntegralNumber() && json.canConvertToLong()) {
      json = LongNode.valueOf(json.longValue());
    }
  }

  /** The overrides in a document, by name. */
  public static SortedMap<String, OverrideValue> in(JsonNode overrides) {
    SortedMap<String, OverrideValue> values = new TreeMap<>();
    for (Map.Entry<String, JsonNode> field : overrides.properties()) {
      if (field.getKey().equals(Limits.MODE_FIELD)) {
        field
            .getValue()
            .properties()
            .forEach(
                mode ->
                    values.put(Limits.MODE + mode.getKey(), new OverrideValue(mode.getValue())));
      } else {
        values.put(field.getKey(), new OverrideValue(field.getValue()));
      }
    }
    return values;
  }

  /** The document of overrides, as requests have it. */
  public static ObjectNode document(Map<String, OverrideValue> overrides) {
    ObjectNode document = Json.object();
    overrides.forEach(
        (name, value) -> {
          if (name.startsWith(Limits.MODE)) {
            document
                .withObjectProperty(Limits.MODE_FIELD)
                .set(name.substring(Limits.MODE.length()), value.json);
          } else {
            document.set(name, value.json);
          }
        });
    return document;
  }

  /**
   * Parses a text.
   *
   * @throws NumberFormatException if it is not true, false or a whole number
   */
  public static OverrideValue parse(String text) {
    return new OverrideValue(
        text.equals("true") || text.equals("false")
            ? BooleanNode.valueOf(text.equals("true"))
            : LongNode.valueOf(Long.parseLong(text)));
  }

  /**
   * Parses the values of overrides by name.
   *
   * @throws Failure if a value cannot be that of its override
   */
  public static Map<String, OverrideValue> parse(Map<String, String> texts) {
    Map<String, OverrideValue> values = new LinkedHashMap<>();
    texts.forEach((name, text) -> values.put(name, parse(name, text)));
    return values;
  }

  private static OverrideValue parse(String name, String text) {
    if (name.startsWith(Limits.MODE)) {
      // The control plane knows the modes of each limit.
      return new OverrideValue(TextNode.valueOf(text));
    }
    boolean isLine = name.equals(Limits.LINE);
    try {
      OverrideValue value = parse(text);
      // The control plane knows all names, and refuses the others.
      if (!Limits.OVERRIDES.contains(name) || value.json.isBoolean() == isLine) {
        return value;
      }
    } catch (NumberFormatException e) {
      // The same message.
    }
    throw Failure.usage(
        "%s: %s (expected: %s)"
            .formatted(
                name,
                text,
                isLine
                    ? "true or false"
                    : Limits.NAMES.contains(name)
                        ? "a whole number, 1 to " + Limits.max(name)
                        : "a whole number, true or false"));
  }

  @Override
  public String toString() {
    return Json.text(json);
  }
}
