package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.session.Gcra;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The part of an UpdateItem that moves the theoretical arrival time of a {@link Gcra}.
 *
 * <p>The algorithm moves the arrival time on from {@code now} if it lies in the past, and from its
 * own value if it lies in the future. One expression cannot do both. So there are two, each with
 * the condition that the row is in the matching state. No writer needs the exact value, and
 * concurrent writers do not conflict. The value that was read last decides which one to try first;
 * if its condition fails, the other one follows.
 *
 * @param expression a {@code SET} clause
 * @param condition when the clause applies and the rate allows a use
 * @param values the values that both refer to
 */
record ArrivalUpdate(String expression, String condition, Map<String, AttributeValue> values) {
  /** The update that fits a row whose arrival time was read as {@code arrival}. */
  static ArrivalUpdate of(Gcra rate, Optional<Instant> arrival, Instant now) {
    return arrival.isPresent() && arrival.get().isAfter(now)
        ? new ArrivalUpdate(
            "SET #arrival = #arrival + :interval",
            "#arrival > :now AND #arrival <= :latest",
            Map.of(
                ":now", Attribute.nanos(now),
                ":latest", Attribute.nanos(now.plus(rate.tolerance())),
                ":interval", Attribute.number(rate.interval().toNanos())))
        : new ArrivalUpdate(
            "SET #arrival = :next",
            "attribute_not_exists(#arrival) OR #arrival <= :now",
            Map.of(
                ":now", Attribute.nanos(now), ":next", Attribute.nanos(now.plus(rate.interval()))));
  }
}
