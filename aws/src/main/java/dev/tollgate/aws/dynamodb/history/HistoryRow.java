package dev.tollgate.aws.dynamodb.history;

import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Counts;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Reads and writes rows of the History table. A row of minutes is a part of a batch: of one tenant
 * the minutes of ten, of all together one minute. A row of an hour has the sums of that hour.
 */
final class HistoryRow {
  /** The partition key. */
  static final String KEY = "key";

  /** The sort key: the minute at which the row begins, and its batch if it has one. */
  static final String AT = "at";

  /** The partition key of the minutes of all tenants together. */
  static final String ALL = "all";

  /** The partition key of the minutes with the counts of each tenant. */
  static final String ACTIVE = "active";

  /** The time that the minutes of a tenant's row span. */
  static final Duration LENGTH = Duration.ofMinutes(10);

  /** The partition key of the hours of all tenants together. */
  static final String HOURS = "hours";

  private static final String TENANT = "tenant:";
  private static final String EXPIRES_AT = "expiresAt";
  private static final String COUNTS = "counts";
  private static final String ADMITTED = "admitted";
  private static final String REFUSED = "refused";
  private static final String PEAK = "peak";
  private static final String MINTED = "minted";
  private static final String TAKEN = "taken";

  private HistoryRow() {}

  /** The partition key of a tenant's minutes. */
  static String key(TenantId tenant) {
    return TENANT + tenant;
  }

  /** The partition key of a tenant's hours. */
  static String hoursKey(TenantId tenant) {
    return HOURS + ":" + tenant;
  }

  /** The beginning of the sort keys of an instant. Later instants have greater ones. */
  static String at(Instant instant) {
    return "%010d".formatted(instant.getEpochSecond() / 60);
  }

  /** The minute at which a row begins. */
  static Instant begin(Row row) {
    return minute(row.text(AT).split("/", -1)[0]);
  }

  private static Instant minute(String text) {
    return Instant.ofEpochSecond(Long.parseLong(text) * 60);
  }

  /**
   * A row.
   *
   * @param at the beginning of the sort key and its end
   * @param counts the counts by minute or tenant, by name
   */
  static Map<String, AttributeValue> write(
      String key, String at, Map<String, AttributeValue> counts, Instant expiresAt) {
    Map<String, AttributeValue> row = Row.withSchema(Map.of(KEY, text(key), AT, text(at)));
    row.put(COUNTS, Attribute.map(counts));
    row.put(EXPIRES_AT, number(expiresAt.getEpochSecond()));
    return row;
  }

  /** The counts of a tenant's row by minute. */
  static Map<Instant, Counts> minutes(Row stored) {
    return counts(stored, HistoryRow::minute);
  }

  /** The counts of an {@link #ACTIVE} row by tenant. */
  static Map<TenantId, Counts> tenants(Row stored) {
    return counts(stored, TenantId::new);
  }

  private static <K> Map<K, Counts> counts(Row stored, Function<String, K> key) {
    return stored.read(
        "the history of",
        stored.text(KEY),
        row -> row.map(COUNTS, key, (all, name) -> counts(all.map(name))));
  }

  static AttributeValue write(Counts counts) {
    Map<String, AttributeValue> written = new HashMap<>();
    if (counts.admitted() != 0) {
      written.put(ADMITTED, number(counts.admitted()));
    }
    if (counts.peak() != 0) {
      written.put(PEAK, number(counts.peak()));
    }
    if (!counts.refused().isEmpty()) {
      written.put(REFUSED, Attribute.map(counts.refused(), Refusal::name, Attribute::number));
    }
    if (!counts.tokens().isEmpty()) {
      written.put(MINTED, tokens(counts, Counts.Tokens::minted));
      written.put(TAKEN, tokens(counts, Counts.Tokens::taken));
    }
    return Attribute.map(written);
  }

  private static AttributeValue tokens(Counts counts, ToLongFunction<Counts.Tokens> number) {
    return Attribute.map(
        counts.tokens(), Action::value, each -> Attribute.number(number.applyAsLong(each)));
  }

  private static Counts counts(Row row) {
    Map<Action, Long> minted = numbers(row, MINTED, Action::new);
    Map<Action, Long> taken = numbers(row, TAKEN, Action::new);
    return new Counts(
        row.optional(ADMITTED, row::number).orElse(0L),
        numbers(row, REFUSED, Refusal::valueOf),
        row.optional(PEAK, row::number).orElse(0L),
        minted.keySet().stream()
            .collect(
                Collectors.toMap(
                    action -> action,
                    action ->
                        new Counts.Tokens(
                            minted.getOrDefault(action, 0L), taken.getOrDefault(action, 0L)))));
  }

  private static <K> Map<K, Long> numbers(Row row, String name, Function<String, K> key) {
    return row.has(name) ? row.map(name, key, Row::number) : Map.of();
  }
}
