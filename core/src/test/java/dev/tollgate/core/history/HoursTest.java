package dev.tollgate.core.history;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.testing.memory.InMemoryHistory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HoursTest {
  private static final Instant NOON = Instant.parse("2026-03-12T12:00:00Z");
  private static final Duration HOUR = Duration.ofHours(1);
  private static final TenantId ACME = new TenantId("acme");

  private final Stopping history = new Stopping();
  private Instant now = NOON;
  private final Hours hours = new Hours(history, () -> now);
  private int batches;

  /** A history whose writer stops after some tenants of an hour. */
  private static final class Stopping extends InMemoryHistory {
    private int left = Integer.MAX_VALUE;
    private int written;

    @Override
    public synchronized void putHour(Instant hour, Map<TenantId, Counts> tenants, Counts all) {
      written++;
      super.putHour(hour, tenants, all);
    }

    @Override
    protected void putHour(Instant hour, TenantId tenant, Counts counts) {
      if (left == 0) {
        throw new Unavailable("DynamoDB");
      }
      left--;
      super.putHour(hour, tenant, counts);
    }
  }

  private static Counts admitted(long count, long peak) {
    return new Counts(count, Map.of(), peak, Map.of());
  }

  private void happened(TenantId tenant, Instant at, Counts counts) {
    history.add("batch" + batches++, List.of(new Change(tenant, at, counts)));
  }

  private void write() {
    hours.write(Instant.MAX);
  }

  private static Span span(Instant from, Duration length) {
    return new Span(from, from.plus(length));
  }

  @Test
  void an_hour_is_written_when_no_change_of_it_can_be_late() {
    happened(ACME, NOON.plusSeconds(3_599), admitted(2, 5));

    now = NOON.plus(HOUR).plus(Hours.SETTLED).minusSeconds(1);
    write();
    assertThat(history.hours(ACME, span(NOON, HOUR))).isEmpty();
    assertThat(hours.of(ACME, span(NOON, HOUR))).isEqualTo(Map.of(NOON, admitted(2, 5)));

    now = now.plusSeconds(1);
    write();
    assertThat(history.hours(ACME, span(NOON, HOUR))).isEqualTo(Map.of(NOON, admitted(2, 5)));
  }

  @Test
  void an_hour_in_which_nothing_happened_is_not_written() {
    now = NOON.plus(Duration.ofDays(1));
    write();

    assertThat(history.written).isZero();
  }

  @Test
  void the_hours_of_a_day_without_runs_are_written_and_each_once() {
    for (int i = 0; i < 30; i++) {
      happened(ACME, NOON.plus(HOUR.multipliedBy(i)), admitted(1, i));
    }
    now = NOON.plus(HOUR.multipliedBy(30)).plus(Hours.SETTLED);
    write();
    write();

    assertThat(history.written).isEqualTo(Hours.CATCH_UP);
    assertThat(history.hours(ACME, span(NOON, Duration.ofHours(30))).firstKey())
        .isEqualTo(NOON.plus(HOUR.multipliedBy(6)));
  }

  @Test
  void no_hour_is_begun_without_time() {
    happened(ACME, NOON, admitted(1, 1));
    now = NOON.plus(Duration.ofHours(5));

    hours.write(now);
    assertThat(history.written).isZero();
    hours.write(now.plusSeconds(1));
    assertThat(history.written).isEqualTo(1);
  }

  @Test
  void an_hour_that_begins_before_the_span_is_left_out_and_one_that_ends_after_it_is_whole() {
    for (int minute = 0; minute < 180; minute++) {
      happened(ACME, NOON.plusSeconds(60 * minute), admitted(1, 1));
    }
    for (Instant at : List.of(NOON.plus(HOUR.multipliedBy(3)), NOON.plus(HOUR.multipliedBy(9)))) {
      now = at;
      write();
      assertThat(hours.of(ACME, span(NOON.plusSeconds(1_800), HOUR.multipliedBy(1))))
          .isEqualTo(Map.of(NOON.plus(HOUR), admitted(60, 1)));
      assertThat(hours.of(ACME, span(NOON.plusSeconds(600), Duration.ofMinutes(40)))).isEmpty();
    }
  }

  @Test
  void peaks_are_the_most_at_a_time() {
    happened(ACME, NOON, admitted(1, 7));
    happened(new TenantId("globex"), NOON, admitted(1, 2));
    happened(new TenantId("globex"), NOON.plusSeconds(60), admitted(1, 8));
    now = NOON.plus(Duration.ofHours(3));
    write();

    assertThat(history.hours(ACME, span(NOON, HOUR))).isEqualTo(Map.of(NOON, admitted(1, 7)));
    assertThat(history.hoursOfAll(span(NOON, HOUR))).isEqualTo(Map.of(NOON, admitted(3, 8)));
  }

  /**
   * Changes of three days, which are written late. The hours are written each hour, twice, some
   * hours late, or in part. At any time hours and the minutes after them are the sums of minutes.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void hours_are_the_sums_of_their_minutes(long seed) {
    Random random = new Random(seed);
    List<TenantId> tenants =
        List.of(ACME, new TenantId("globex"), new TenantId("initech"), new TenantId("rare"));
    Instant end = NOON.plus(Duration.ofDays(3));
    while (now.isBefore(end)) {
      now = now.plusSeconds(60L * random.nextInt(1, 40));
      List<Change> changes = new ArrayList<>();
      for (int i = random.nextInt(5); i > 0; i--) {
        TenantId tenant = tenants.get(random.nextInt(random.nextInt(20) == 0 ? 4 : 3));
        changes.add(change(random, tenant));
      }
      String batch = "batch" + batches++;
      for (int i = random.nextInt(1, 3); i > 0; i--) {
        history.add(batch, changes);
      }
      // Some runs are missing, and none for less than a day.
      if (random.nextInt(8) == 0) {
        history.left = random.nextInt(3) == 0 ? random.nextInt(4) : Integer.MAX_VALUE;
        try {
          write();
        } catch (Unavailable stopped) {
          assertThat(history.left).isZero();
        }
      }
    }
    now = end.plus(HOUR).plus(Hours.SETTLED);
    history.left = Integer.MAX_VALUE;
    write();

    Span all = new Span(NOON.minus(HOUR.multipliedBy(2)), end.plus(HOUR));
    for (TenantId tenant : tenants) {
      SortedMap<Instant, Counts> expected = Timeline.of(history.of(tenant, all), all, HOUR);
      assertThat(history.hours(tenant, all)).isEqualTo(expected).isNotEmpty();
      assertThat(hours.of(tenant, all)).isEqualTo(expected);
    }
    assertThat(history.hoursOfAll(all))
        .isEqualTo(Timeline.of(history.ofAll(all), all, HOUR))
        .isEqualTo(hours.ofAll(all));
  }

  /** A refusal is written up to an hour late, and up to two minutes pass until it is read. */
  private Change change(Random random, TenantId tenant) {
    if (random.nextBoolean()) {
      return new Change(
          tenant,
          now.minusSeconds(random.nextInt(62 * 60)),
          new Counts(0, Map.of(Refusal.TENANT_RATE, random.nextLong(1, 9)), 0, Map.of()));
    }
    long count = random.nextLong(-2, 9);
    return new Change(
        tenant,
        now.minusSeconds(random.nextInt(120)),
        new Counts(
            count,
            Map.of(),
            random.nextLong(1, 99),
            Map.of(new Action("connect"), new Tokens(random.nextLong(9), count))));
  }
}
