package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.Counts.Tokens;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link History}. */
public abstract class HistoryContract {
  /** An hour of its own, because a history of all tenants has the rows of other tests. */
  private final Instant start = Samples.NOW.truncatedTo(ChronoUnit.HOURS).plus(nextHours());

  private static int hours;

  private static synchronized Duration nextHours() {
    hours++;
    return Duration.ofHours(2L * hours);
  }

  /** The history under test; it may contain rows of other tests. */
  protected abstract History history();

  private Instant minute(int minute) {
    return start.plus(Duration.ofMinutes(minute));
  }

  private Span minutes(int from, int to) {
    return new Span(minute(from), minute(to));
  }

  private static Counts admitted(long count, long peak) {
    return new Counts(count, Map.of(), peak, Map.of());
  }

  private static String batch() {
    return UUID.randomUUID().toString();
  }

  @Test
  void a_tenant_without_rows_has_no_history() {
    assertThat(history().of(Samples.tenantId(), minutes(0, 60))).isEmpty();
    assertThat(history().ofAll(minutes(0, 60))).isEmpty();
    assertThat(history().active(minutes(0, 60))).isEmpty();
  }

  @Test
  void counts_are_read_as_they_were_added() {
    TenantId tenant = Samples.tenantId();
    Counts counts =
        new Counts(
            -2,
            Map.of(Refusal.TENANT_RATE, 3L, Refusal.UNDECIDED, 1L),
            7,
            Map.of(new Action("connect"), new Tokens(5, 4), new Action("mail"), new Tokens(0, -1)));

    history().add(batch(), List.of(new Change(tenant, minute(3).plusSeconds(59), counts)));

    assertThat(history().of(tenant, minutes(0, 60))).isEqualTo(Map.of(minute(3), counts));
    assertThat(history().ofAll(minutes(0, 60))).isEqualTo(Map.of(minute(3), counts));
    assertThat(history().active(minutes(0, 60))).isEqualTo(Map.of(tenant, counts));
  }

  @Test
  void changes_of_a_minute_are_added_up_within_a_batch_and_across_batches() {
    TenantId tenant = Samples.tenantId();
    Change one = new Change(tenant, minute(5), admitted(1, 4));

    history().add(batch(), List.of(one, one, new Change(tenant, minute(6), admitted(1, 9))));
    history().add(batch(), List.of(new Change(tenant, minute(5), admitted(2, 6))));

    assertThat(history().of(tenant, minutes(0, 60)))
        .isEqualTo(Map.of(minute(5), admitted(4, 6), minute(6), admitted(1, 9)));
    assertThat(history().active(minutes(0, 60))).isEqualTo(Map.of(tenant, admitted(5, 9)));
  }

  @Test
  void a_repeated_batch_counts_once() {
    TenantId tenant = Samples.tenantId();
    String batch = batch();
    List<Change> changes = List.of(new Change(tenant, minute(5), admitted(1, 1)));

    history().add(batch, changes);
    history().add(batch, changes);

    assertThat(history().of(tenant, minutes(0, 60))).isEqualTo(Map.of(minute(5), admitted(1, 1)));
    assertThat(history().ofAll(minutes(0, 60))).isEqualTo(Map.of(minute(5), admitted(1, 1)));
    assertThat(history().active(minutes(0, 60))).isEqualTo(Map.of(tenant, admitted(1, 1)));
  }

  @Test
  void peaks_of_several_tenants_are_added_up() {
    TenantId one = Samples.tenantId();
    TenantId other = Samples.tenantId();

    history()
        .add(
            batch(),
            List.of(
                new Change(one, minute(5), admitted(1, 4)),
                new Change(other, minute(5), admitted(2, 3))));

    assertThat(history().ofAll(minutes(0, 60))).isEqualTo(Map.of(minute(5), admitted(3, 7)));
  }

  @Test
  void peak_of_a_tenant_in_two_batches_of_a_minute_is_not_added_to_itself() {
    TenantId tenant = Samples.tenantId();

    history().add(batch(), List.of(new Change(tenant, minute(5), admitted(1, 4))));
    history().add(batch(), List.of(new Change(tenant, minute(5), admitted(1, 5))));

    assertThat(history().ofAll(minutes(0, 60))).isEqualTo(Map.of(minute(5), admitted(2, 5)));
  }

  @Test
  void a_span_has_its_first_minute_and_not_its_end() {
    TenantId tenant = Samples.tenantId();
    // Also in the middle of a stored row.
    List<Change> changes =
        IntStream.range(0, 30)
            .mapToObj(i -> new Change(tenant, minute(i), admitted(1, i)))
            .toList();
    history().add(batch(), changes);

    assertThat(history().of(tenant, minutes(7, 23)).keySet())
        .containsExactlyElementsOf(IntStream.range(7, 23).mapToObj(this::minute).toList());
    assertThat(history().ofAll(minutes(7, 23))).hasSize(16);
    assertThat(history().active(minutes(7, 23))).isEqualTo(Map.of(tenant, admitted(16, 22)));
  }

  @Test
  void many_tenants_of_one_batch() {
    List<Change> changes = new ArrayList<>();
    for (int i = 0; i < 1_200; i++) {
      changes.add(new Change(Samples.tenantId(), minute(1), admitted(1, 1)));
    }

    history().add(batch(), changes);

    assertThat(history().active(minutes(1, 2))).hasSize(1_200);
    assertThat(history().ofAll(minutes(1, 2))).isEqualTo(Map.of(minute(1), admitted(1_200, 1_200)));
  }

  @Test
  void an_hour_is_replaced_and_kept_beside_minutes() {
    TenantId one = Samples.tenantId();
    TenantId other = Samples.tenantId();
    history().add(batch(), List.of(new Change(one, minute(0), admitted(5, 5))));

    history().putHour(start, Map.of(one, admitted(1, 1)), admitted(1, 1));
    history().putHour(start, Map.of(one, admitted(2, 4), other, admitted(3, 3)), admitted(5, 7));
    history().putHour(minute(60), Map.of(one, admitted(1, 2)), admitted(1, 2));

    assertThat(history().hours(one, minutes(0, 61)))
        .isEqualTo(Map.of(start, admitted(2, 4), minute(60), admitted(1, 2)));
    assertThat(history().hours(one, minutes(1, 60))).isEmpty();
    assertThat(history().hours(other, minutes(0, 61))).isEqualTo(Map.of(start, admitted(3, 3)));
    assertThat(history().hoursOfAll(minutes(0, 60))).isEqualTo(Map.of(start, admitted(5, 7)));
    assertThat(history().of(one, minutes(0, 60))).isEqualTo(Map.of(start, admitted(5, 5)));
  }

  @Test
  void an_hour_of_many_tenants() {
    Map<TenantId, Counts> tenants = new HashMap<>();
    for (int i = 0; i < 1_030; i++) {
      tenants.put(Samples.tenantId(), admitted(1, i));
    }

    history().putHour(start, tenants, admitted(1_030, 1));

    tenants.forEach(
        (tenant, counts) ->
            assertThat(history().hours(tenant, minutes(0, 60))).isEqualTo(Map.of(start, counts)));
  }

  @Test
  void a_batch_needs_a_name() {
    assertThatThrownBy(() -> history().add("", List.of())).isInstanceOf(InvalidValue.class);
  }
}
