package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.BucketsContract;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

@ExtendWith(Engines.class)
class DynamoDbBucketsTest extends BucketsContract {
  private static final Instant NOW = Samples.NOW;
  private static final EmptyHint HINT = new EmptyHint(NOW, NOW.plusSeconds(5), 0);
  private static final Map<String, AttributeValue> LINE =
      LimitRow.write(Samples.bucket(Samples.bucketId()).at(NOW).lineOpened(NOW));
  private static final List<AttributeValue> UNREADABLE =
      List.of(
          AttributeValue.fromS("x"), AttributeValue.fromN("0.5"), Attribute.number(Long.MAX_VALUE));

  private final DynamoDbClient dynamoDb;
  private final String table;
  private final Buckets buckets;

  DynamoDbBucketsTest(Engines.Tables tables) {
    dynamoDb = tables.client();
    table = tables.limit();
    buckets = new DynamoDbBuckets(dynamoDb, table, Engines.ANYBODY);
  }

  @Override
  protected Buckets buckets() {
    return buckets;
  }

  @Test
  void a_line_that_an_older_release_wrote_without_its_earlier_rate_can_be_changed() {
    BucketId id = Samples.bucketId();
    buckets.open(Bucket.opened(id, new BucketSpec(Rate.perMinute(30), 30), Samples.NOW));
    Line written =
        buckets
            .changeLine(id, Optional.empty(), read(id).at(Samples.NOW).lineOpened(Samples.NOW))
            .orElseThrow();
    dynamoDb.updateItem(
        update ->
            update
                .tableName(table)
                .key(LimitRow.key(id))
                .updateExpression("REMOVE #line.#before")
                .expressionAttributeNames(
                    Map.of("#line", LimitRow.LINE, "#before", LimitRow.LINE_BEFORE)));
    Instant later = Samples.NOW.plusSeconds(60);
    Line next = read(id).at(later).lineOpened(later);

    assertThat(buckets.changeLine(id, read(id).line(), next)).contains(next);

    assertThat(read(id).line()).contains(next);
    assertThat(buckets.changeLine(id, Optional.of(written), next)).isEmpty();
  }

  private Bucket read(BucketId id) {
    return buckets.find(id).orElseThrow();
  }

  /** What a program that claims tokens may write, and nobody can read. */
  static Stream<Arguments> unreadable() {
    return UNREADABLE.stream()
        .flatMap(
            value ->
                Stream.concat(
                    Stream.of("emptySince", "emptyUntil", "emptyHeld", "emptyVersion", "line")
                        .map(name -> Arguments.of(name, value)),
                    LINE.keySet().stream().map(name -> Arguments.of("line", line(name, value)))));
  }

  private static AttributeValue line(String name, AttributeValue value) {
    Map<String, AttributeValue> line = new HashMap<>(LINE);
    line.put(name, value);
    return Attribute.map(line);
  }

  @ParameterizedTest
  @MethodSource("unreadable")
  void an_unreadable_hint_or_line_counts_as_absent_and_is_replaced(
      String name, AttributeValue value) {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    buckets.open(bucket);
    buckets.rememberEmpty(bucket, HINT);
    set(bucket.id(), name, value);

    assertThat(find(bucket.id()).line()).isEmpty();
    assertThat(twice(() -> buckets.changeLine(bucket.id(), Optional.empty(), line(NOW))))
        .isPresent();
    assertThat(
            twice(
                () ->
                    Optional.of(buckets.rememberEmpty(find(bucket.id()), HINT))
                        .filter(WriteResult.DONE::equals)))
        .isPresent();
    assertThat(find(bucket.id()).emptyHint()).contains(HINT);

    set(bucket.id(), name, value);
    assertThat(
            twice(
                () ->
                    Optional.of(buckets.replace(find(bucket.id()).inspected(1, NOW)))
                        .filter(WriteResult.DONE::equals)))
        .isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"line", "freed"})
  void a_row_that_claims_made_too_large_can_be_written_again(String name) {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    buckets.open(bucket);
    pad(bucket.id(), name);

    assertThat(buckets.replace(find(bucket.id()).inspected(1, NOW)))
        .isEqualTo(WriteResult.CONFLICT);
    assertThat(buckets.replace(find(bucket.id()).inspected(1, NOW))).isEqualTo(WriteResult.DONE);
  }

  /** Writes the longest text that fits into the row: the next write of the row has no room. */
  private void pad(BucketId id, String name) {
    // An item has at most 400 KB, and the rest of this one at most 2 KB.
    int least = 398 * 1024;
    int fits = least;
    for (int step = 1024; step > 0; step /= 2) {
      AttributeValue text = Attribute.text("x".repeat(fits + step));
      try {
        set(
            id,
            name,
            name.equals("line") ? line("x", text) : AttributeValue.fromSs(List.of(text.s())));
        fits += step;
      } catch (DynamoDbException tooLarge) {
        assertThat(tooLarge).hasMessageContaining("Item size");
      }
    }
    assertThat(fits).isGreaterThan(least);
  }

  @Test
  void a_name_that_is_no_freed_place_hides_no_other_one() {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    buckets.open(bucket);
    buckets.changeLine(bucket.id(), Optional.empty(), line(NOW));
    Place place = new Place(3, 400);
    set(
        bucket.id(),
        LimitRow.FREED,
        AttributeValue.fromSs(List.of("x", "3/a/400", "+3/401", "03/402", "3/400")));

    assertThat(find(bucket.id()).line().orElseThrow().freed()).containsExactly(place);
    assertThat(buckets.takeFreed(bucket.id(), place, Set.of())).isEqualTo(WriteResult.DONE);
    assertThat(find(bucket.id()).line().orElseThrow().freed()).isEmpty();
  }

  /** Values of the freed places that cannot be read, or not all of them. */
  static Stream<AttributeValue> unreadableFreed() {
    Stream<String> names = IntStream.range(0, Line.MAX_FREED).mapToObj(i -> "x" + i);
    return Stream.concat(
        UNREADABLE.stream(),
        Stream.of(
            AttributeValue.fromNs(List.of("1")),
            AttributeValue.fromL(List.of()),
            AttributeValue.fromSs(names.toList())));
  }

  @ParameterizedTest
  @MethodSource("unreadableFreed")
  void unreadable_freed_places_count_as_absent_and_are_replaced(AttributeValue value) {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    buckets.open(bucket);
    buckets.changeLine(bucket.id(), Optional.empty(), line(NOW));
    set(bucket.id(), LimitRow.FREED, value);
    Place place = new Place(3, 400);

    assertThat(find(bucket.id()).line().orElseThrow().freed()).isEmpty();
    buckets.freePlace(bucket.id(), place);
    buckets.freePlace(bucket.id(), place);

    assertThat(find(bucket.id()).line().orElseThrow().freed()).containsExactly(place);
  }

  /** The numbers of a line at the ends of their ranges. */
  static Stream<Arguments> extremes() {
    return LINE.keySet().stream()
        .flatMap(
            name ->
                LongStream.of(0, 1L << 61, 1L << 62, -(1L << 62))
                    .mapToObj(value -> Arguments.of(name, value)));
  }

  @ParameterizedTest
  @MethodSource("extremes")
  void a_line_with_an_extreme_number_can_be_moved_retuned_counted_and_cleared(
      String name, long value) {
    Bucket bucket = Samples.bucket(Samples.bucketId());
    buckets.open(bucket);

    changes(bucket)
        .forEach(
            change -> {
              set(bucket.id(), "line", line(name, Attribute.number(value)));
              Bucket read = find(bucket.id());
              read.at(NOW).waiting();
              read.at(NOW).lineWait();
              change
                  .apply(read)
                  .ifPresent(
                      next ->
                          assertThat(buckets.changeLine(bucket.id(), read.line(), next))
                              .isPresent());
            });
    set(bucket.id(), "line", line(name, Attribute.number(value)));
    find(bucket.id())
        .line()
        .ifPresent(
            line ->
                assertThat(buckets.clearLine(bucket.id(), line, NOW)).isEqualTo(WriteResult.DONE));
  }

  /** A change of the line that a caller, a fill or a roll-out makes. */
  private interface Change {
    Optional<Line> apply(Bucket read);
  }

  private static List<Change> changes(Bucket bucket) {
    return List.of(
        read -> read.line().map(Line::extended),
        read -> read.lineCounted(1, NOW),
        read -> read.retuned(bucket.spec().withLine(true), NOW).at(NOW).lineRetuned(),
        read -> read.line().map(line -> read.lineMoved(line.last(), NOW).orElseThrow()),
        read ->
            read.line().flatMap(line -> read.lineMoved(new Place(line.epoch(), 1), line.slot(7))));
  }

  private static Line line(Instant slot) {
    return Samples.bucket(Samples.bucketId()).at(NOW).lineOpened(slot);
  }

  private Bucket find(BucketId id) {
    return buckets.find(id).orElseThrow();
  }

  private static <T> Optional<T> twice(Supplier<Optional<T>> attempt) {
    return attempt.get().or(attempt);
  }

  private void set(BucketId id, String name, AttributeValue value) {
    dynamoDb.updateItem(
        request ->
            request
                .tableName(table)
                .key(LimitRow.key(id))
                .updateExpression("SET #name = :value")
                .expressionAttributeNames(Map.of("#name", name))
                .expressionAttributeValues(Map.of(":value", value)));
  }
}
