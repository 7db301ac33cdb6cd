package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.connect.RefusalCounts;
import dev.tollgate.core.connect.TenantActivity;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Connections.CountResult;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The contract of {@link Activity}. */
public abstract class ActivityContract {
  private static final long MANY = 1_000;

  /** The activity under test; it may contain rows of other tests. */
  protected abstract Activity activity();

  /** The connections that the activity reads. */
  protected abstract Connections connections();

  /** The buckets that the activity reads. */
  protected abstract Buckets buckets();

  /** Sessions, which the activity must ignore. */
  protected abstract Sessions sessions();

  private TenantActivity of(TenantId tenant) {
    return activity().of(tenant);
  }

  private TenantId admitted(int times) {
    TenantId tenant = Samples.tenantId();
    for (int i = 0; i < times; i++) {
      connections().countUp(tenant, "c" + i, MANY);
    }
    return tenant;
  }

  private static TenantActivity connections(long open, long admitted, long refused) {
    return activity(open, admitted, 0, refused, List.of());
  }

  /** The time of {@link Connections#countUp} without a time is the epoch. */
  private static TenantActivity activity(
      long open, long admitted, long withoutToken, long refused, List<Bucket> buckets) {
    return new TenantActivity(
        open,
        admitted,
        withoutToken,
        admitted == 0 ? Optional.empty() : Optional.of(Instant.EPOCH),
        refused,
        buckets);
  }

  @Test
  void unknown_tenant_has_no_activity() {
    assertThat(of(Samples.tenantId())).isEqualTo(connections(0, 0, 0));
  }

  @Test
  void counted_connection_stays_admitted_after_it_closes() {
    TenantId tenant = admitted(3);

    connections().countDown(tenant, Set.of("c0", "c1"));

    assertThat(of(tenant)).isEqualTo(connections(1, 3, 0));
  }

  @Test
  void connection_without_a_token_is_counted_apart_until_it_is_undone() {
    TenantId tenant = admitted(1);

    connections().countUp(tenant, "without", MANY, false, Instant.EPOCH);
    connections().countWithoutToken(tenant);
    assertThat(of(tenant)).isEqualTo(activity(2, 2, 2, 0, List.of()));

    connections().undoCountUp(tenant, "without", false);
    connections().undoCountUp(tenant, "c0", true);
    assertThat(of(tenant).withoutToken()).isEqualTo(1);
  }

  @Test
  void counting_without_a_token_creates_no_count() {
    TenantId tenant = Samples.tenantId();

    connections().countWithoutToken(tenant);

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
    assertThat(connections().countUp(tenant, "c0", 1)).isEqualTo(CountResult.COUNTED);
    assertThat(of(tenant)).isEqualTo(connections(1, 1, 0));
  }

  @Test
  void last_admission_has_the_time_of_its_connection() {
    TenantId tenant = admitted(1);

    connections().countUp(tenant, "c1", 2, true, Samples.NOW);
    connections().countUp(tenant, "refused", 2, true, Samples.NOW.plusSeconds(1));

    assertThat(of(tenant).admittedLastAt()).contains(Samples.NOW);
  }

  @Test
  void correction_that_lowers_the_count_counts_connections_without_a_token() {
    TenantId tenant = admitted(3);

    connections()
        .correct(tenant, connections().readCount(tenant), new Correction(-2, Map.of(1, -2L)));
    connections().correct(tenant, connections().readCount(tenant), new Correction(1, Map.of()));

    assertThat(of(tenant)).isEqualTo(activity(2, 3, 2, 0, List.of()));
  }

  @Test
  void connection_without_a_place_is_not_admitted() {
    TenantId tenant = admitted(2);

    assertThat(connections().countUp(tenant, "more", 2)).isEqualTo(CountResult.FULL);

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 0));
  }

  @Test
  void undone_connection_is_neither_open_nor_admitted() {
    TenantId tenant = admitted(3);

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 0));
  }

  @Test
  void undo_after_the_count_was_lowered_removes_only_the_admission() {
    TenantId tenant = admitted(2);
    connections().countDown(tenant, Set.of("c0", "c1"));

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(0, 1, 0));
  }

  @Test
  void undo_never_creates_a_count() {
    TenantId tenant = Samples.tenantId();

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
    activity().addRefused(tenant, Samples.refusals(1));
    assertThat(of(tenant).refused()).isZero();
  }

  @Test
  void concurrent_connects_and_disconnects_are_all_admitted() {
    TenantId tenant = Samples.tenantId();

    Race.of(
        16,
        i -> {
          connections().countUp(tenant, "c" + i, MANY);
          if (i % 4 == 0) {
            connections().undoCountUp(tenant, "c" + i);
          } else if (i % 4 == 1) {
            connections().countDown(tenant, Set.of("c" + i));
          }
          activity().addRefused(tenant, Samples.refusals(2));
          return i;
        });

    assertThat(of(tenant)).isEqualTo(connections(8, 12, 32));
  }

  @Test
  void correction_of_the_count_keeps_admitted_and_refused() {
    TenantId tenant = admitted(3);
    activity().addRefused(tenant, Samples.refusals(4));

    connections().correct(tenant, connections().readCount(tenant), new Correction(-2, Map.of()));

    assertThat(of(tenant)).isEqualTo(activity(1, 3, 2, 4, List.of()));
  }

  @Test
  void refusals_add_up() {
    TenantId tenant = admitted(1);

    activity().addRefused(tenant, Samples.refusals(1));
    activity().addRefused(tenant, Samples.refusals(41));

    assertThat(of(tenant)).isEqualTo(connections(1, 1, 42));
  }

  @Test
  void refusal_at_the_connection_limit_is_recorded_with_the_count() {
    TenantId tenant = admitted(1);
    Instant earlier = Samples.NOW.minusSeconds(7);

    activity()
        .addRefused(
            tenant,
            new RefusalCounts(
                Map.of(Refusal.TENANT_RATE, 2L),
                Map.of(),
                earlier,
                Optional.of(earlier),
                Optional.empty()));
    activity().addRefused(tenant, Samples.refusals(1));
    assertThat(connections().readCount(tenant).tenantFullAt()).contains(earlier);
    assertThat(connections().readCount(tenant).sessionFullAt()).isEmpty();

    activity()
        .addRefused(
            tenant,
            new RefusalCounts(
                Map.of(Refusal.TENANT_RATE, 1L),
                Map.of(),
                Samples.NOW,
                Optional.of(Samples.NOW),
                Optional.of(Samples.NOW)));
    assertThat(connections().readCount(tenant).tenantFullAt()).contains(Samples.NOW);
    assertThat(connections().readCount(tenant).sessionFullAt()).contains(Samples.NOW);
    assertThat(of(tenant)).isEqualTo(connections(1, 1, 4));
  }

  @Test
  void refusals_are_added_to_a_count_without_admissions() {
    TenantId tenant = Samples.tenantId();
    connections().createCount(tenant);

    activity().addRefused(tenant, Samples.refusals(2));

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 2));
    assertThat(connections().count(tenant)).isZero();
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.COUNTED);
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.FULL);
  }

  @Test
  void create_of_an_existing_count_changes_nothing() {
    TenantId tenant = admitted(2);
    activity().addRefused(tenant, Samples.refusals(3));

    connections().createCount(tenant);

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 3));
  }

  @Test
  void removed_count_removes_its_totals_and_ignores_late_refusals() {
    TenantId tenant = admitted(2);
    activity().addRefused(tenant, Samples.refusals(3));

    connections().deleteCount(tenant);
    activity().addRefused(tenant, Samples.refusals(4));

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
    connections().createCount(tenant);
    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
  }

  @Test
  void buckets_are_listed_by_action_without_other_rows_of_the_tenant() {
    TenantId tenant = admitted(1);
    Bucket message = Samples.bucket(new BucketId(tenant, Action.MESSAGE));
    Bucket connect = Samples.bucket(new BucketId(tenant, Action.CONNECT));
    buckets().open(message);
    buckets().open(connect);
    buckets().open(Samples.bucket(Samples.bucketId()));
    sessions().acquireCreation(tenant, Gcra.perMinute(60), Samples.NOW);

    assertThat(of(tenant)).isEqualTo(activity(1, 1, 0, 0, List.of(connect, message)));
  }
}
