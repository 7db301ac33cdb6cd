package dev.tollgate.aws.dynamodb;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Writes values as DynamoDB has them; {@link Row} reads them. */
public final class Attribute {
  public static final long NANOS = 1_000_000_000L;

  private Attribute() {}

  public static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  public static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  public static AttributeValue nanos(Instant instant) {
    return number(
        Math.addExact(Math.multiplyExact(instant.getEpochSecond(), NANOS), instant.getNano()));
  }

  public static AttributeValue map(Map<String, AttributeValue> values) {
    return AttributeValue.fromM(values);
  }

  /** A map inside a row, each entry written by {@code value} under the name that it gets. */
  public static <K, V> AttributeValue map(
      Map<K, V> values, Function<K, String> name, Function<V, AttributeValue> value) {
    Map<String, AttributeValue> written = new HashMap<>();
    values.forEach((key, each) -> written.put(name.apply(key), value.apply(each)));
    return map(written);
  }
}
