package dev.tollgate.e2e.models;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.DecimalNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.TextNode;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/**
 * The shapes of a service: structures with their members, and the types and constraints of values.
 *
 * <p>A pattern must match a whole value, as AWS's services validate it. The length of a string is
 * the number of its Unicode code points, that of a blob the number of its bytes.
 *
 * @see <a href="https://smithy.io/2.0/spec/constraint-traits.html">Constraint traits</a>
 */
final class Shapes {
  private final JsonNode shapes;
  private final Map<String, Map<String, String>> namesByStructure = new ConcurrentHashMap<>();
  private final Map<String, Pattern> patterns = new ConcurrentHashMap<>();

  /** The shapes of a model, by name. */
  Shapes(JsonNode shapes) {
    this.shapes = shapes;
  }

  /** A shape of the model. */
  JsonNode shape(String name) {
    return shapes.path(name);
  }

  /** The name of a member in messages. */
  static String wireName(Map.Entry<String, JsonNode> member) {
    return member.getValue().path("locationName").asText(member.getKey());
  }

  /** What a value has that its shape does not allow. */
  List<Violation> violations(String shape, JsonNode value) {
    Check check = new Check();
    check.value("", value, shape);
    return check.violations;
  }

  /** A text from a path, a header or a form as a value of a shape, or else the text. */
  JsonNode typed(String shape, String text) {
    try {
      return switch (shape(shape).path("type").asText()) {
        case "integer", "long" -> LongNode.valueOf(Long.parseLong(text));
        case "double", "float" -> DecimalNode.valueOf(new BigDecimal(text));
        case "boolean" ->
            text.equals("true") || text.equals("false")
                ? BooleanNode.valueOf(text.equals("true"))
                : TextNode.valueOf(text);
        case "timestamp" -> LongNode.valueOf(Instant.parse(text).getEpochSecond());
        default -> TextNode.valueOf(text);
      };
    } catch (NumberFormatException | DateTimeException e) {
      return TextNode.valueOf(text);
    }
  }

  private Map<String, String> namesByWireName(String structure) {
    Map<String, String> names = new HashMap<>();
    shape(structure)
        .path("members")
        .properties()
        .forEach(member -> names.put(wireName(member), member.getKey()));
    return names;
  }

  /** The check of one value. */
  private final class Check {
    private final List<Violation> violations = new ArrayList<>();

    private void value(String at, JsonNode value, String name) {
      JsonNode shape = shape(name);
      switch (shape.path("type").asText()) {
        case "structure" -> structure(at, value, name);
        case "list" -> list(at, value, shape);
        case "map" -> map(at, value, shape);
        case "string" -> string(at, value, shape);
        case "integer" -> {
          if (require(value.canConvertToInt() && value.isIntegralNumber(), at, value, "integer")) {
            range(at, value, value.decimalValue(), "", shape);
          }
        }
        case "long" -> {
          if (require(value.canConvertToLong() && value.isIntegralNumber(), at, value, "long")) {
            range(at, value, value.decimalValue(), "", shape);
          }
        }
        case "double", "float" -> {
          if (require(value.isNumber(), at, value, "number")) {
            range(at, value, value.decimalValue(), "", shape);
          }
        }
        case "boolean" -> require(value.isBoolean(), at, value, "boolean");
        case "blob" -> blob(at, value, shape);
        case "timestamp" -> timestamp(at, value, shape);
        default ->
            throw new IllegalStateException(
                "shape " + name + ": " + shape + " (expected: a known type)");
      }
    }

    private void structure(String at, JsonNode value, String name) {
      if (!require(value.isObject(), at, value, "structure")) {
        return;
      }
      JsonNode shape = shape(name);
      JsonNode members = shape.path("members");
      Map<String, String> names =
          namesByStructure.computeIfAbsent(name, Shapes.this::namesByWireName);
      for (Map.Entry<String, JsonNode> field : value.properties()) {
        String member = names.get(field.getKey());
        String path = path(at, field.getKey());
        if (member == null) {
          violations.add(new Violation(path, field.getValue().toString(), "a member of " + name));
        } else if (!field.getValue().isNull()) {
          value(path, field.getValue(), members.path(member).path("shape").asText());
        }
      }
      for (JsonNode required : shape.path("required")) {
        String member = required.asText();
        String wireName = wireName(Map.entry(member, members.path(member)));
        if (!value.hasNonNull(wireName)) {
          violations.add(new Violation(path(at, wireName), "absent", "required"));
        }
      }
    }

    private void list(String at, JsonNode value, JsonNode shape) {
      if (require(value.isArray(), at, value, "list")) {
        range(at, value, BigDecimal.valueOf(value.size()), " elements", shape);
        String element = shape.path("member").path("shape").asText();
        value.forEach(one -> value(at + "[]", one, element));
      }
    }

    private void map(String at, JsonNode value, JsonNode shape) {
      if (require(value.isObject(), at, value, "map")) {
        range(at, value, BigDecimal.valueOf(value.size()), " entries", shape);
        String key = shape.path("key").path("shape").asText();
        String element = shape.path("value").path("shape").asText();
        for (Map.Entry<String, JsonNode> entry : value.properties()) {
          value(at + "{key}", TextNode.valueOf(entry.getKey()), key);
          value(at + "{}", entry.getValue(), element);
        }
      }
    }

    private void string(String at, JsonNode value, JsonNode shape) {
      if (!require(value.isTextual(), at, value, "string")) {
        return;
      }
      String text = value.textValue();
      int length = text.codePointCount(0, text.length());
      range(at, value, BigDecimal.valueOf(length), " characters", shape);
      if (shape.has("enum") && !contains(shape.path("enum"), text)) {
        violations.add(new Violation(at, text, "one of " + shape.path("enum")));
      }
      if (shape.has("pattern")) {
        String pattern = shape.path("pattern").asText();
        require(
            patterns.computeIfAbsent(pattern, Pattern::compile).matcher(text).matches(),
            at,
            value,
            pattern);
      }
    }

    private void blob(String at, JsonNode value, JsonNode shape) {
      try {
        byte[] bytes = Base64.getDecoder().decode(value.isTextual() ? value.textValue() : "?");
        range(at, value, BigDecimal.valueOf(bytes.length), " bytes", shape);
      } catch (IllegalArgumentException e) {
        violations.add(new Violation(at, value.toString(), "bytes in Base64"));
      }
    }

    private void timestamp(String at, JsonNode value, JsonNode shape) {
      if (shape.path("timestampFormat").asText().equals("iso8601")) {
        require(isTime(value.asText()), at, value, "time of ISO 8601");
      } else {
        require(value.isNumber(), at, value, "seconds since the epoch");
      }
    }

    private void range(String at, JsonNode value, BigDecimal number, String unit, JsonNode shape) {
      JsonNode min = shape.path("min");
      JsonNode max = shape.path("max");
      if (!min.isMissingNode() && number.compareTo(min.decimalValue()) < 0) {
        violations.add(new Violation(at, value.toString(), "at least " + min + unit));
      }
      if (!max.isMissingNode() && number.compareTo(max.decimalValue()) > 0) {
        violations.add(new Violation(at, value.toString(), "at most " + max + unit));
      }
    }

    private boolean require(boolean valid, String at, JsonNode value, String expected) {
      if (!valid) {
        violations.add(new Violation(at, value.toString(), expected));
      }
      return valid;
    }
  }

  private static boolean contains(JsonNode texts, String text) {
    for (JsonNode one : texts) {
      if (one.asText().equals(text)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isTime(String text) {
    try {
      var unused = Instant.parse(text);
      return true;
    } catch (DateTimeException e) {
      return false;
    }
  }

  private static String path(String at, String member) {
    return at.isEmpty() ? member : at + "." + member;
  }
}
