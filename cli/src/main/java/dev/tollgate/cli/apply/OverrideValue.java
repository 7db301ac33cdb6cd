package dev.tollgate.cli.apply;

import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.BooleanNode;
import com.fasterxml.jackson.databind.node.LongNode;
import dev.tollgate.cli.http.Json;

/**
 * The value of a tenant's override: a whole number for a limit, true or false for {@code line}.
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

  @Override
  public String toString() {
    return Json.text(json);
  }
}
