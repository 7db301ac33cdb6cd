package dev.tollgate.aws.dynamodb;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Writes values as DynamoDB has them; {@link Row} reads them. */
final class Attribute {
  static final long NANOS = 1_000_000_000L;

  private Attribute() {}

  static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  static AttributeValue nanos(Instant instant) {
    return number(
        Math.addExact(Math.multiplyExact(instant.getEpochSecond(), NANOS), instant.getNano()));
  }

  static AttributeValue map(Map<String, AttributeValue> values) {
    return AttributeValue.fromM(values);
  }

  /** A map inside a row, each entry written by {@code value} under the name that it gets. */
  static <K, V> AttributeValue map(
      Map<K, V> values, Function<K, String> name, Function<V, AttributeValue> value) {
    Map<String, AttributeValue> written = new HashMap<>();
    values.forEach((key, each) -> written.put(name.apply(key), value.apply(each)));
    return map(written);
  }
}
