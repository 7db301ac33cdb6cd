package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.events.models.dynamodb.AttributeValue;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Turns a row of a stream into texts by name; those within a map are named {@code map.field}. */
public final class FlatRow {
  private FlatRow() {}

  /** The texts, numbers and booleans of a row; empty without a row. */
  public static Map<String, String> of(@Nullable Map<String, AttributeValue> row) {
    Map<String, String> fields = new TreeMap<>();
    add(fields, "", row);
    return fields;
  }

  private static void add(
      Map<String, String> fields, String prefix, @Nullable Map<String, AttributeValue> row) {
    Optional.ofNullable(row)
        .orElse(Map.of())
        .forEach(
            (name, value) -> {
              add(fields, prefix + name + ".", value.getM());
              Optional.ofNullable(value.getS())
                  .or(() -> Optional.ofNullable(value.getN()))
                  .or(() -> Optional.ofNullable(value.getBOOL()).map(String::valueOf))
                  .ifPresent(text -> fields.put(prefix + name, text));
            });
  }
}
