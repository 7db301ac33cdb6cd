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
 * A row of a table, or a map inside one, being read. Instants are in nanoseconds since the epoch,
 * which a DynamoDB number holds exactly.
 *
 * @param attributes as DynamoDB has them
 */
public record Row(Map<String, AttributeValue> attributes) {
  /** The schema version of the rows that this release writes, and the newest that it reads. */
  public static final long SCHEMA = 1;

  private static final String SCHEMA_ATTRIBUTE = "schema";

  /** The attributes of a row that is written whole, with the schema version. */
  public static Map<String, AttributeValue> withSchema(Map<String, AttributeValue> attributes) {
    Map<String, AttributeValue> row = new HashMap<>(attributes);
    row.put(SCHEMA_ATTRIBUTE, Attribute.number(SCHEMA));
    return row;
  }

  /**
   * What {@code read} makes of this row. One without a schema version was written before there was
   * any, and is read.
   *
   * @param kind what the row holds
   * @param name whose row it is; never a session's id, which is a secret
   * @throws NewerRow if a newer release wrote it
   * @throws UnreadableRow if an attribute is missing, or is not what it should be
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
    } catch (Misfit | IllegalArgumentException | DateTimeException | ArithmeticException misfit) {
      throw new UnreadableRow(
          kind, name.toString(), LogText.quoted(String.valueOf(misfit.getMessage())));
    }
  }

  public boolean has(String name) {
    return attributes.containsKey(name);
  }

  public String text(String name) {
    return value(name, "a text", AttributeValue::s);
  }

  public BigDecimal decimal(String name) {
    return new BigDecimal(value(name, "a number", AttributeValue::n));
  }

  public long number(String name) {
    String digits = value(name, "a whole number", AttributeValue::n);
    try {
      return Long.parseLong(digits);
    } catch (NumberFormatException other) {
      throw new Misfit(name, digits, "a whole number");
    }
  }

  public Instant nanos(String name) {
    long nanos = number(name);
    return Instant.ofEpochSecond(
        Math.floorDiv(nanos, Attribute.NANOS), Math.floorMod(nanos, Attribute.NANOS));
  }

  public Row map(String name) {
    return new Row(value(name, "a map", found -> found.hasM() ? found.m() : null));
  }

  /** A map inside a row, each entry read by {@code entry} from its name and the map. */
  public <K, V> Map<K, V> map(
      String name, Function<String, K> key, BiFunction<Row, String, V> value) {
    Row inner = map(name);
    return inner.attributes.keySet().stream()
        .collect(Collectors.toMap(key, each -> value.apply(inner, each)));
  }

  public Set<String> texts(String name) {
    return has(name)
        ? Set.copyOf(value(name, "a set of texts", found -> found.hasSs() ? found.ss() : null))
        : Set.of();
  }

  public <T> Optional<T> optional(String name, Function<String, T> read) {
    return has(name) ? Optional.of(read.apply(name)) : Optional.empty();
  }

  private <T> T value(String name, String expected, Function<AttributeValue, @Nullable T> as) {
    @Nullable AttributeValue found = attributes.get(name);
    if (found == null) {
      throw new Misfit(name, "none", expected);
    }
    @Nullable T value = as.apply(found);
    if (value == null) {
      throw new Misfit(name, "of type " + found.type(), expected);
    }
    return value;
  }

  /** An attribute that is missing, or is not of the type that it should be. */
  private static final class Misfit extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private Misfit(String name, String found, String expected) {
      super(name + ": " + found + " (expected: " + expected + ")");
    }
  }
}
