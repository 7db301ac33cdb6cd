package dev.tollgate.aws.dynamodb;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Converts values to DynamoDB attributes; {@link Row} converts them back. */
public final class Attribute {
  /** Nanoseconds in a second. */
  static final long NANOS = 1_000_000_000L;

  /**
   * The greatest amount of a whole number in a row. Sums and differences of two such numbers do not
   * overflow. As nanoseconds it is an instant of the year 2116.
   */
  static final long MAX = 1L << 62;

  private Attribute() {}

  /** A string. */
  public static AttributeValue text(String value) {
    return AttributeValue.fromS(value);
  }

  /** A whole number. */
  public static AttributeValue number(long value) {
    return AttributeValue.fromN(Long.toString(value));
  }

  /**
   * An instant as nanoseconds since the epoch, which a DynamoDB number holds exactly. One before
   * 1823 or after 2116 becomes the nearest that a row may hold.
   */
  public static AttributeValue nanos(Instant instant) {
    long end = MAX / NANOS + 1;
    long second = Math.max(-end, Math.min(end, instant.getEpochSecond()));
    return number(Math.max(-MAX, Math.min(MAX, second * NANOS + instant.getNano())));
  }

  /** The instant that {@link #nanos} stores as a number. */
  public static Instant instant(long nanos) {
    return Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS));
  }

  /** A map. */
  public static AttributeValue map(Map<String, AttributeValue> values) {
    return AttributeValue.fromM(values);
  }

  /** A map whose entries {@code name} and {@code value} convert. */
  public static <K, V> AttributeValue map(
      Map<K, V> values, Function<K, String> name, Function<V, AttributeValue> value) {
    Map<String, AttributeValue> written = new HashMap<>();
    values.forEach((key, each) -> written.put(name.apply(key), value.apply(each)));
    return map(written);
  }
}
