package dev.tollgate.aws.dynamodb;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.UnreadableRow;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Reads the attributes of a row or of a map inside a row. Every getter fails if the attribute is
 * missing or has another type; {@link #read} turns that into {@link UnreadableRow}.
 *
 * @param attributes the attributes by name
 */
public record Row(Map<String, AttributeValue> attributes) {
  /** The schema version that this release writes, and the newest one that it reads. */
  public static final long SCHEMA = 1;

  private static final String SCHEMA_ATTRIBUTE = "schema";

  /** These attributes and the schema version, for a write of a whole row. */
  public static Map<String, AttributeValue> withSchema(Map<String, AttributeValue> attributes) {
    Map<String, AttributeValue> row = new HashMap<>(attributes);
    row.put(SCHEMA_ATTRIBUTE, Attribute.number(SCHEMA));
    return row;
  }

  /**
   * Converts this row with {@code read}. A row without a schema version is older than schema
   * versions, and readable.
   *
   * @param kind what the row holds
   * @param name the row's tenant or other key; never a session id, which is a secret
   * @throws NewerRow if a newer release wrote it
   * @throws UnreadableRow if an attribute is missing or malformed
   */
  public <T> T read(String kind, Object name, Function<Row, T> read) {
    try {
      long schema = optional(SCHEMA_ATTRIBUTE, this::number).orElse(0L);
      if (schema > SCHEMA) {
        throw new NewerRow(kind, name.toString(), schema, SCHEMA);
      }
      return read.apply(this);
    } catch (InvalidValue refused) {
      throw new UnreadableRow(kind, name.toString(), refused.logged());
    } catch (WrongAttribute
        | IllegalArgumentException
        | DateTimeException
        | ArithmeticException wrong) {
      throw new UnreadableRow(
          kind, name.toString(), LogText.quoted(String.valueOf(wrong.getMessage())));
    }
  }

  /**
   * Converts this row with {@code read}; empty if an attribute is missing or malformed. For
   * attributes that a role with few rights may write.
   */
  public <T> Optional<T> readable(Function<Row, T> read) {
    try {
      return Optional.of(read.apply(this));
    } catch (WrongAttribute | IllegalArgumentException wrong) {
      return Optional.empty();
    }
  }

  /** Whether the row has this attribute. */
  public boolean has(String name) {
    return attributes.containsKey(name);
  }

  /** A string. */
  public String text(String name) {
    return value(name, "a text", AttributeValue::s);
  }

  /** A number with decimals. */
  public BigDecimal decimal(String name) {
    return new BigDecimal(value(name, "a number", AttributeValue::n));
  }

  /** A whole number, {@value Attribute#MAX} at most and minus that at least. */
  public long number(String name) {
    String digits = value(name, "a whole number", AttributeValue::n);
    try {
      long number = Long.parseLong(digits);
      if (-Attribute.MAX <= number && number <= Attribute.MAX) {
        return number;
      }
    } catch (NumberFormatException other) {
      // Refused below.
    }
    throw new WrongAttribute(name, digits, "a whole number");
  }

  /** A boolean. */
  public boolean flag(String name) {
    return value(name, "a boolean", AttributeValue::bool);
  }

  /** An instant, stored as nanoseconds since the epoch. */
  public Instant nanos(String name) {
    return Attribute.instant(number(name));
  }

  /** A map. */
  public Row map(String name) {
    return new Row(value(name, "a map", found -> found.hasM() ? found.m() : null));
  }

  /** A map whose names {@code key} and whose values {@code value} convert. */
  public <K, V> Map<K, V> map(
      String name, Function<String, K> key, BiFunction<Row, String, V> value) {
    Row inner = map(name);
    return inner.attributes.keySet().stream()
        .collect(Collectors.toMap(key, each -> value.apply(inner, each)));
  }

  /** A set of strings; empty if the attribute is missing, since DynamoDB stores no empty set. */
  public Set<String> texts(String name) {
    return has(name)
        ? Set.copyOf(value(name, "a set of texts", found -> found.hasSs() ? found.ss() : null))
        : Set.of();
  }

  /** An attribute that may be missing, read by one of the other methods. */
  public <T> Optional<T> optional(String name, Function<String, T> read) {
    return has(name) ? Optional.of(read.apply(name)) : Optional.empty();
  }

  private <T> T value(String name, String expected, Function<AttributeValue, @Nullable T> as) {
    @Nullable AttributeValue found = attributes.get(name);
    if (found == null) {
      throw new WrongAttribute(name, "none", expected);
    }
    @Nullable T value = as.apply(found);
    if (value == null) {
      throw new WrongAttribute(name, "of type " + found.type(), expected);
    }
    return value;
  }

  /** An attribute is missing or has another type than expected. */
  private static final class WrongAttribute extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private WrongAttribute(String name, String found, String expected) {
      super(name + ": " + found + " (expected: " + expected + ")");
    }
  }
}
