package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/**
 * A filter of events.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html">Control
 *     which events Lambda sends to your function</a>
 */
record Pattern(ObjectNode rules) {
  private static final String BODY = "body";
  private static final List<String> COMPARISONS =
      List.of("anything-but", "equals-ignore-case", "exists", "numeric", "prefix", "suffix");

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if the text is not a pattern
   */
  static Pattern parse(String text) {
    if (Json.readOrMissing(text) instanceof ObjectNode rules && isValid(rules)) {
      return new Pattern(rules);
    }
    throw new IllegalArgumentException("Invalid filter pattern definition.");
  }

  /**
   * Whether a record passes the filter. Rules for the inside of a body apply to the JSON in it, and
   * refuse a body that is not JSON.
   */
  boolean matches(JsonNode record) {
    if (!rules.path(BODY).isObject()) {
      return matches(rules, record);
    }
    ObjectNode parsed = record.deepCopy();
    parsed.set(BODY, Json.readOrMissing(record.path(BODY).asText()));
    return matches(rules, parsed);
  }

  private static boolean isValid(JsonNode rules) {
    return !rules.isEmpty()
        && rules.properties().stream().allMatch(rule -> isValid(rule.getKey(), rule.getValue()));
  }

  private static boolean isValid(String member, JsonNode wanted) {
    if (member.equals("$or") && wanted.isArray()) {
      return !any(wanted, alternative -> !isValid(alternative));
    }
    return wanted.isObject()
        ? isValid(wanted)
        : wanted.isArray()
            && !wanted.isEmpty()
            && !any(wanted, comparison -> !isComparison(comparison));
  }

  private static boolean isComparison(JsonNode wanted) {
    return wanted.isValueNode()
        || (wanted.size() == 1 && COMPARISONS.contains(wanted.fieldNames().next()));
  }

  private static boolean matches(JsonNode rules, JsonNode event) {
    return rules.properties().stream()
        .allMatch(
            rule ->
                rule.getKey().equals("$or")
                    ? any(rule.getValue(), alternative -> matches(alternative, event))
                    : rule.getValue().isObject()
                        ? matches(rule.getValue(), event.path(rule.getKey()))
                        : any(rule.getValue(), wanted -> isOne(wanted, event.path(rule.getKey()))));
  }

  /** Whether a value, or an element of it, is what one comparison wants. */
  private static boolean isOne(JsonNode wanted, JsonNode value) {
    if (wanted.has("exists")) {
      // Of leaves only.
      return wanted.get("exists").asBoolean() != (value.isMissingNode() || value.isObject());
    }
    if (value.isArray()) {
      return any(value, element -> isOne(wanted, element));
    }
    if (value.isMissingNode() || value.isObject()) {
      return false;
    }
    return wanted.isObject() ? compares(wanted, value) : isEqual(wanted, value);
  }

  private static boolean compares(JsonNode wanted, JsonNode value) {
    Map.Entry<String, JsonNode> comparison = wanted.properties().iterator().next();
    JsonNode operand = comparison.getValue();
    return switch (comparison.getKey()) {
      case "prefix" -> value.isTextual() && value.asText().startsWith(operand.asText());
      case "suffix" -> value.isTextual() && value.asText().endsWith(operand.asText());
      case "equals-ignore-case" ->
          value.isTextual() && value.asText().equalsIgnoreCase(operand.asText());
      case "anything-but" ->
          operand.isArray()
              ? !any(operand, unwanted -> isEqual(unwanted, value))
              : operand.isObject() ? !compares(operand, value) : !isEqual(operand, value);
      case "numeric" -> value.isNumber() && isInRange(operand, value);
      default -> throw new IllegalStateException(comparison.getKey());
    };
  }

  private static boolean isInRange(JsonNode bounds, JsonNode value) {
    for (int i = 0; i + 1 < bounds.size(); i += 2) {
      int order = value.decimalValue().compareTo(bounds.get(i + 1).decimalValue());
      boolean within =
          switch (bounds.get(i).asText()) {
            case "=" -> order == 0;
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            case ">=" -> order >= 0;
            default -> false;
          };
      if (!within) {
        return false;
      }
    }
    return true;
  }

  private static boolean isEqual(JsonNode wanted, JsonNode value) {
    return (wanted.isNumber() && value.isNumber())
        ? wanted.decimalValue().compareTo(value.decimalValue()) == 0
        : wanted.equals(value);
  }

  private static boolean any(JsonNode elements, Predicate<JsonNode> test) {
    for (JsonNode element : elements) {
      if (test.test(element)) {
        return true;
      }
    }
    return false;
  }
}
