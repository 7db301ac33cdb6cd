package dev.tollgate.core.testing.contract;

import static dev.tollgate.core.testing.Samples.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The contract of {@link LiveTenants}. */
public abstract class LiveTenantsContract {
  private static final Gcra RATE = Gcra.perMinute(60);

  /** The live tenants under test; they may contain rows of other tests. */
  protected abstract LiveTenants live();

  /** The sessions whose creation makes tenants live. */
  protected abstract Sessions sessions();

  private TenantId withSessions(int creations) {
    TenantId tenant = Samples.tenantId();
    for (int i = 0; i < creations; i++) {
      assertThat(sessions().acquireCreation(tenant, RATE, NOW)).isEmpty();
    }
    return tenant;
  }

  /** All live tenants, in pages of seven. */
  private List<TenantId> list() {
    List<TenantId> all = new ArrayList<>();
    List<TenantId> page = live().list(Optional.empty(), 7);
    all.addAll(page);
    while (page.size() == 7) {
      page = live().list(Optional.of(page.get(6)), 7);
      all.addAll(page);
    }
    assertThat(page).hasSizeLessThan(7);
    return all;
  }

  @Test
  void tenant_is_live_after_its_first_session_creation() {
    TenantId never = Samples.tenantId();
    TenantId once = withSessions(1);
    TenantId often = withSessions(3);

    assertThat(list()).contains(once, often).doesNotContain(never).doesNotHaveDuplicates();
    assertThat(live().nextArrival(never)).isEmpty();
    assertThat(live().nextArrival(once)).contains(NOW.plusSeconds(1));
    assertThat(live().nextArrival(often)).contains(NOW.plusSeconds(3));
  }

  @Test
  void tenant_removed_from_the_list_is_not_live_and_has_no_creation_rate() {
    TenantId tenant = withSessions(1);
    Instant arrival = live().nextArrival(tenant).orElseThrow();

    assertThat(live().remove(tenant, arrival)).isEqualTo(WriteResult.DONE);

    assertThat(list()).doesNotContain(tenant);
    assertThat(live().nextArrival(tenant)).isEmpty();
    assertThat(live().remove(tenant, arrival)).isEqualTo(WriteResult.CONFLICT);
    sessions().acquireCreation(tenant, RATE, NOW);
    assertThat(list()).contains(tenant);
  }

  @Test
  void tenant_that_created_another_session_stays_live() {
    TenantId tenant = withSessions(1);
    Instant arrival = live().nextArrival(tenant).orElseThrow();
    sessions().acquireCreation(tenant, RATE, NOW);

    assertThat(live().remove(tenant, arrival)).isEqualTo(WriteResult.CONFLICT);

    assertThat(list()).contains(tenant);
  }

  @Test
  void tenant_without_a_creation_rate_is_not_live() {
    TenantId tenant = withSessions(1);

    sessions().deleteCreationRate(tenant);

    assertThat(list()).doesNotContain(tenant);
  }

  @Test
  void one_of_many_concurrent_removals_of_a_tenant_succeeds() {
    TenantId tenant = withSessions(1);
    Instant arrival = live().nextArrival(tenant).orElseThrow();

    List<WriteResult> answers = Race.of(6, i -> live().remove(tenant, arrival));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  @Test
  void long_list_is_complete() {
    List<TenantId> tenants = IntStream.range(0, 30).mapToObj(i -> withSessions(1)).toList();

    assertThat(list())
        .containsAll(tenants)
        .isSortedAccordingTo(Comparator.comparing(TenantId::value))
        .doesNotHaveDuplicates();
  }
}
