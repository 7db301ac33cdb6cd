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
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
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
  static final String RANKING = "ranking";

  /** The time that the minutes of a tenant's row span. */
  static final Duration LENGTH = Duration.ofMinutes(10);

  /** The partition key of the hours of all tenants together. */
  static final String HOURS = "hours";

  private static final String TENANT = "tenant:";
  private static final String EXPIRES_AT = "expiresAt";
  private static final String COUNTS = "counts";
  private static final String TENANTS = "tenants";
  private static final String ADMITTED = "admitted";
  private static final String REFUSED = "refused";
  private static final String OBSERVED = "observed";
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
   * @param counts the counts by minute
   */
  static Map<String, AttributeValue> write(
      String key, String at, Map<String, AttributeValue> counts, Instant expiresAt) {
    Map<String, AttributeValue> row = expiring(key, at, expiresAt);
    row.put(COUNTS, Attribute.map(counts));
    return row;
  }

  /**
   * An {@link #RANKING} row.
   *
   * <p>Its counts are one text, because a ranking reads those of 10,000 tenants in many minutes,
   * and a map of maps is three times as long and takes many times as long to read.
   *
   * @param tenants a {@link #line} of each tenant
   */
  static Map<String, AttributeValue> writeRanking(
      String at, List<String> tenants, Instant expiresAt) {
    Map<String, AttributeValue> row = expiring(RANKING, at, expiresAt);
    row.put(TENANTS, text(String.join("\n", tenants)));
    return row;
  }

  private static Map<String, AttributeValue> expiring(String key, String at, Instant expiresAt) {
    Map<String, AttributeValue> row = Row.withSchema(Map.of(KEY, text(key), AT, text(at)));
    row.put(EXPIRES_AT, number(expiresAt.getEpochSecond()));
    return row;
  }

  /**
   * A tenant's counts in an {@link #RANKING} row: id, admitted, peak, the refused by reason, the
   * tokens minted and taken by action, and those that would have been refused by reason, such as
   * {@code acme 3 7 TENANT_RATE=2 connect=5/3 SESSION_RATE=1}. Lines of older releases lack the
   * last part.
   */
  static String line(TenantId tenant, Counts counts) {
    return String.join(
        " ",
        tenant.value(),
        Long.toString(counts.admitted()),
        Long.toString(counts.peak()),
        list(counts.refused(), Refusal::name, Object::toString),
        list(counts.tokens(), Action::value, tokens -> tokens.minted() + "/" + tokens.taken()),
        list(counts.wouldRefuse(), Refusal::name, Object::toString));
  }

  private static <K, V> String list(
      Map<K, V> values, Function<K, String> name, Function<V, String> text) {
    return values.entrySet().stream()
        .map(each -> name.apply(each.getKey()) + "=" + text.apply(each.getValue()))
        .collect(Collectors.joining(","));
  }

  /** The counts of a tenant's row by minute. */
  static Map<Instant, Counts> minutes(Row stored) {
    return stored.read(
        "the history of",
        stored.text(KEY),
        row -> row.map(COUNTS, HistoryRow::minute, (all, name) -> counts(all.map(name))));
  }

  /**
   * The counts of an {@link #RANKING} row by tenant. A line that cannot be read is left out: it
   * must not hide the others.
   */
  static Map<TenantId, Counts> tenants(Row stored) {
    String lines = stored.read("the history of", stored.text(KEY), row -> row.text(TENANTS));
    Map<TenantId, Counts> tenants = new HashMap<>();
    for (String line : lines.split("\n", -1)) {
      String[] part = line.split(" ", -1);
      try {
        tenants.merge(new TenantId(part[0]), countsOfLine(part), Counts::plus);
      } catch (IllegalArgumentException | IndexOutOfBoundsException | IllegalStateException bad) {
        // Nobody but the writer of the history may write here.
      }
    }
    return tenants;
  }

  private static Counts countsOfLine(String[] part) {
    return new Counts(
        Long.parseLong(part[1]),
        mapOf(part[3], Refusal::valueOf, Long::valueOf),
        part.length > 5 ? mapOf(part[5], Refusal::valueOf, Long::valueOf) : Map.of(),
        Long.parseLong(part[2]),
        mapOf(part[4], Action::new, HistoryRow::tokensOf));
  }

  private static Counts.Tokens tokensOf(String text) {
    String[] numbers = text.split("/", -1);
    return new Counts.Tokens(Long.parseLong(numbers[0]), Long.parseLong(numbers[1]));
  }

  private static <K, V> Map<K, V> mapOf(
      String list, Function<String, K> key, Function<String, V> value) {
    return Stream.of(list.split(",", -1))
        .filter(each -> !each.isEmpty())
        .map(each -> each.split("=", -1))
        .collect(Collectors.toMap(each -> key.apply(each[0]), each -> value.apply(each[1])));
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
    if (!counts.wouldRefuse().isEmpty()) {
      written.put(OBSERVED, Attribute.map(counts.wouldRefuse(), Refusal::name, Attribute::number));
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
        numbers(row, OBSERVED, Refusal::valueOf),
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
