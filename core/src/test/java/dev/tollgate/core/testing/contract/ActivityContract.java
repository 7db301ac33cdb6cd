package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.connect.Activity;
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

/** What every {@link Activity} does. */
public abstract class ActivityContract {
  private static final long MANY = 1_000;

  /** The activity; what other tests leave in it does no harm. */
  protected abstract Activity activity();

  /** The connections that it is of. */
  protected abstract Connections connections();

  /** The buckets that it is of. */
  protected abstract Buckets buckets();

  /** The sessions that bear on nothing of it. */
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
    return new TenantActivity(open, admitted, refused, List.of());
  }

  @Test
  void a_stranger_has_none() {
    assertThat(of(Samples.tenantId())).isEqualTo(connections(0, 0, 0));
  }

  @Test
  void whoever_is_counted_is_admitted_and_stays_so_when_gone() {
    TenantId tenant = admitted(3);

    connections().countDown(tenant, Set.of("c0", "c1"));

    assertThat(of(tenant)).isEqualTo(connections(1, 3, 0));
  }

  @Test
  void whoever_finds_no_place_is_not_admitted() {
    TenantId tenant = admitted(2);

    assertThat(connections().countUp(tenant, "more", 2)).isEqualTo(CountResult.FULL);

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 0));
  }

  @Test
  void whoever_is_taken_back_is_neither_open_nor_admitted() {
    TenantId tenant = admitted(3);

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 0));
  }

  @Test
  void take_back_from_a_count_that_was_lowered_meanwhile_takes_the_admission_back_alone() {
    TenantId tenant = admitted(2);
    connections().countDown(tenant, Set.of("c0", "c1"));

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(0, 1, 0));
  }

  @Test
  void take_back_never_creates_a_count() {
    TenantId tenant = Samples.tenantId();

    connections().undoCountUp(tenant, "c0");

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
    activity().addRefused(tenant, RefusalCounts.of(1));
    assertThat(of(tenant).refused()).isZero();
  }

  @Test
  void of_many_that_come_and_go_at_once_every_one_was_admitted() {
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
          activity().addRefused(tenant, RefusalCounts.of(2));
          return i;
        });

    assertThat(of(tenant)).isEqualTo(connections(8, 12, 32));
  }

  @Test
  void a_correction_of_the_count_changes_no_total() {
    TenantId tenant = admitted(3);
    activity().addRefused(tenant, RefusalCounts.of(4));

    connections().correct(tenant, connections().readCount(tenant), new Correction(-2, Map.of()));

    assertThat(of(tenant)).isEqualTo(connections(1, 3, 4));
  }

  @Test
  void refusals_add_up() {
    TenantId tenant = admitted(1);

    activity().addRefused(tenant, RefusalCounts.of(1));
    activity().addRefused(tenant, RefusalCounts.of(41));

    assertThat(of(tenant)).isEqualTo(connections(1, 1, 42));
  }

  @Test
  void a_refusal_because_too_many_are_open_is_noted_with_the_count() {
    TenantId tenant = admitted(1);
    Instant earlier = Samples.NOW.minusSeconds(7);

    activity().addRefused(tenant, new RefusalCounts(2, Optional.of(earlier), Optional.empty()));
    activity().addRefused(tenant, RefusalCounts.of(1));
    assertThat(connections().readCount(tenant).tenantFullAt()).contains(earlier);
    assertThat(connections().readCount(tenant).sessionFullAt()).isEmpty();

    activity()
        .addRefused(
            tenant, new RefusalCounts(1, Optional.of(Samples.NOW), Optional.of(Samples.NOW)));
    assertThat(connections().readCount(tenant).tenantFullAt()).contains(Samples.NOW);
    assertThat(connections().readCount(tenant).sessionFullAt()).contains(Samples.NOW);
    assertThat(of(tenant)).isEqualTo(connections(1, 1, 4));
  }

  @Test
  void refusals_are_added_once_the_count_is_open_and_before_anybody_was_admitted() {
    TenantId tenant = Samples.tenantId();
    connections().createCount(tenant);

    activity().addRefused(tenant, RefusalCounts.of(2));

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 2));
    assertThat(connections().count(tenant)).isZero();
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.COUNTED);
    assertThat(connections().countUp(tenant, "more", 1)).isEqualTo(CountResult.FULL);
  }

  @Test
  void a_count_that_is_open_stays_as_it_is_when_opened_again() {
    TenantId tenant = admitted(2);
    activity().addRefused(tenant, RefusalCounts.of(3));

    connections().createCount(tenant);

    assertThat(of(tenant)).isEqualTo(connections(2, 2, 3));
  }

  @Test
  void totals_go_with_the_count_and_late_refusals_leave_nothing() {
    TenantId tenant = admitted(2);
    activity().addRefused(tenant, RefusalCounts.of(3));

    connections().deleteCount(tenant);
    activity().addRefused(tenant, RefusalCounts.of(4));

    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
    connections().createCount(tenant);
    assertThat(of(tenant)).isEqualTo(connections(0, 0, 0));
  }

  @Test
  void buckets_are_told_by_action_and_nothing_else_that_is_written_of_a_tenant() {
    TenantId tenant = admitted(1);
    Bucket message = Samples.bucket(new BucketId(tenant, Action.MESSAGE));
    Bucket connect = Samples.bucket(new BucketId(tenant, Action.CONNECT));
    buckets().open(message);
    buckets().open(connect);
    buckets().open(Samples.bucket(Samples.bucketId()));
    sessions().acquireCreation(tenant, Gcra.perMinute(60), Samples.NOW);

    assertThat(of(tenant)).isEqualTo(new TenantActivity(1, 1, 0, List.of(connect, message)));
  }
}
