package dev.tollgate.aws;

import java.math.BigDecimal;
import java.time.Instant;
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
record Row(Map<String, AttributeValue> attributes) {
  boolean has(String name) {
    return attributes.containsKey(name);
  }

  String text(String name) {
    return value(name).s();
  }

  BigDecimal decimal(String name) {
    return new BigDecimal(value(name).n());
  }

  long number(String name) {
    return Long.parseLong(value(name).n());
  }

  Instant nanos(String name) {
    long nanos = number(name);
    return Instant.ofEpochSecond(
        Math.floorDiv(nanos, Attribute.NANOS), Math.floorMod(nanos, Attribute.NANOS));
  }

  Row map(String name) {
    return new Row(value(name).m());
  }

  /** A map inside a row, each entry read by {@code entry} from its name and the map. */
  <K, V> Map<K, V> map(String name, Function<String, K> key, BiFunction<Row, String, V> value) {
    Row inner = map(name);
    return inner.attributes.keySet().stream()
        .collect(Collectors.toMap(key, each -> value.apply(inner, each)));
  }

  Set<String> texts(String name) {
    return has(name) ? Set.copyOf(value(name).ss()) : Set.of();
  }

  <T> Optional<T> optional(String name, Function<String, T> read) {
    return has(name) ? Optional.of(read.apply(name)) : Optional.empty();
  }

  private AttributeValue value(String name) {
    @Nullable AttributeValue value = attributes.get(name);
    if (value == null) {
      throw new IllegalStateException("a row has no attribute " + name);
    }
    return value;
  }
}
