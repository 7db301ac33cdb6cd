package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LimitChangesTest {
  private static final LimitChanges CHANGES = new LimitChanges();

  private static Map<String, String> row(String key, String... attributes) {
    Map<String, String> row = new HashMap<>(Map.of("tenantId", "acme", "key", key));
    for (String attribute : attributes) {
      String[] parts = attribute.split("=", -1);
      row.put(parts[0], parts[1]);
    }
    return row;
  }

  private static Optional<Counts> counts(Map<String, String> before, Map<String, String> after) {
    return CHANGES.of(before, after, Samples.NOW).map(Change::counts);
  }

  private static Counts tokens(long minted, long taken) {
    return new Counts(0, Map.of(), 0, Map.of(new Action("connect"), new Tokens(minted, taken)));
  }

  @Test
  void admitted_connection() {
    assertThat(
            CHANGES.of(
                row("connections", "itemCount=4", "admitted=10", "refused=3"),
                row("connections", "itemCount=5", "admitted=11", "refused=3"),
                Samples.NOW))
        .contains(
            new Change(new TenantId("acme"), Samples.NOW, new Counts(1, Map.of(), 5, Map.of())));
  }

  @Test
  void first_connection() {
    assertThat(counts(Map.of(), row("connections", "itemCount=1", "admitted=1")))
        .contains(new Counts(1, Map.of(), 1, Map.of()));
  }

  @Test
  void refused_connections_by_reason() {
    assertThat(
            counts(
                row("connections", "itemCount=4", "refused=3", "refused_TENANT_RATE=3"),
                row(
                    "connections",
                    "itemCount=4",
                    "refused=8",
                    "refused_TENANT_RATE=5",
                    "refused_SUSPENDED=3")))
        .contains(
            new Counts(0, Map.of(Refusal.TENANT_RATE, 2L, Refusal.SUSPENDED, 3L), 4, Map.of()));
  }

  @ParameterizedTest
  @CsvSource({
    // The last refusal, the write, the minute that counts it, and whether its peak is known
    "2026-03-01T12:00:03Z, 2026-03-01T12:00:08Z, 2026-03-01T12:00:00Z, true",
    "2026-03-01T11:59:59.9Z, 2026-03-01T12:00:08Z, 2026-03-01T11:59:00Z, false",
    "2026-03-01T11:00:09Z, 2026-03-01T12:00:08Z, 2026-03-01T11:00:00Z, false",
    // No process keeps refusals so long, or refuses in the future.
    "2026-03-01T11:00:08Z, 2026-03-01T12:00:08Z, 2026-03-01T12:00:00Z, true",
    "2026-03-01T12:01:08Z, 2026-03-01T12:00:08Z, 2026-03-01T12:00:00Z, true",
  })
  void refusals_that_were_written_late_count_in_their_minute(
      Instant last, Instant written, Instant minute, boolean isPeakKnown) {
    Change change =
        CHANGES
            .of(
                row("connections", "itemCount=4", "refused_TENANT_RATE=3"),
                row(
                    "connections",
                    "itemCount=4",
                    "refused_TENANT_RATE=5",
                    "refusedLastAt=" + Attribute.nanos(last).n()),
                written)
            .orElseThrow();

    assertThat(change.at().truncatedTo(ChronoUnit.MINUTES)).isEqualTo(minute);
    assertThat(change.counts())
        .isEqualTo(new Counts(0, Map.of(Refusal.TENANT_RATE, 2L), isPeakKnown ? 4 : 0, Map.of()));
  }

  @Test
  void undone_connection_takes_an_admission_back() {
    assertThat(
            counts(
                row("connections", "itemCount=5", "admitted=11"),
                row("connections", "itemCount=4", "admitted=10")))
        .contains(new Counts(-1, Map.of(), 5, Map.of()));
  }

  @ParameterizedTest
  @CsvSource({
    // level and minted before | after | minted | taken
    "10,100, 10,103, 3,3",
    "10,100,  8,100, 0,2",
    "10,100, 13,103, 3,0",
    "10,100,  0,100, 0,10",
    // A claim of before that fill gave a token back.
    " 9,100, 10,100, 0,-1",
  })
  void fill(long level, long minted, long levelAfter, long mintedAfter, long added, long taken) {
    assertThat(
            counts(
                row("bucket:connect", "level=" + level, "minted=" + minted),
                row("bucket:connect", "level=" + levelAfter, "minted=" + mintedAfter)))
        .contains(tokens(added, taken));
  }

  @Test
  void writes_that_tell_nothing() {
    Map<String, String> closed = row("connections", "itemCount=3", "admitted=10");
    assertThat(counts(row("connections", "itemCount=4", "admitted=10"), closed)).isEmpty();
    Map<String, String> bucket = row("bucket:connect", "level=5", "minted=9", "version=3");
    assertThat(counts(bucket, bucket)).isEmpty();
    assertThat(counts(closed, Map.of())).isEmpty();
    assertThat(counts(Map.of(), row("silo", "admitted=1"))).isEmpty();
    assertThat(counts(Map.of(), row("sessions", "arrival=1"))).isEmpty();
  }

  /** A role of the tenant may write them. */
  @Test
  void numbers_that_no_function_writes_count_as_none() {
    String most = Long.toString(Long.MAX_VALUE);
    assertThat(
            counts(
                row("connections", "admitted=3", "itemCount=1"),
                row("connections", "admitted=5", "itemCount=" + most, "refused_SUSPENDED=" + most)))
        .isEmpty();
    assertThat(
            counts(
                row("connections", "refused_SUSPENDED=-" + most),
                row("connections", "refused_SUSPENDED=" + most)))
        .isEmpty();
    assertThat(
            counts(
                row("connections", "admitted=3"),
                row("connections", "admitted=4", "itemCount=" + most)))
        .contains(new Counts(1, Map.of(), 0, Map.of()));
    assertThat(counts(row("connections"), row("connections", "refused_TENANT_RATE=1000001")))
        .isEmpty();
    assertThat(counts(row("connections"), row("connections", "refused_TENANT_RATE=1000000")))
        .isPresent();
  }

  @ParameterizedTest
  @CsvSource({"DIRECT,PRODUCER", "PRODUCER,DIRECT", "DIRECT,DIRECT"})
  void tokens_are_not_counted_where_a_schedule_fills_the_bucket(String before, String after) {
    assertThat(
            counts(
                row("bucket:connect", "level=9", "minted=1", "fillMode=" + before),
                row("bucket:connect", "level=5", "minted=4", "fillMode=" + after)))
        .isEmpty();
  }

  @Test
  void first_fill_after_an_older_release_tells_nothing() {
    assertThat(
            counts(row("bucket:connect", "level=5"), row("bucket:connect", "level=0", "minted=60")))
        .isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"many", "", "1.5"})
  void handmade_rows_are_ignored(String number) {
    assertThat(counts(Map.of(), row("connections", "admitted=" + number))).isEmpty();
    assertThat(counts(Map.of("level", number, "minted", "1"), row("bucket:!", "minted=1")))
        .isEmpty();
    assertThat(
            counts(Map.of(), Map.of("tenantId", "Not one", "key", "connections", "admitted", "1")))
        .isEmpty();
  }
}
