package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.condition.TenantCondition;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.testing.Samples;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What every {@link Conditions} must do. */
public interface ConditionsContract {
  /** The conditions under test; others may be stored. */
  Conditions conditions();

  private Optional<TenantCondition> stored(TenantId tenant) {
    List<TenantCondition> found =
        conditions().list().stream().filter(each -> each.tenant().equals(tenant)).toList();
    assertThat(found).hasSizeLessThan(2);
    return found.stream().findAny();
  }

  @Test
  default void condition_is_read_as_it_was_put() {
    TenantId tenant = Samples.tenantId();
    TenantCondition throttled =
        TenantCondition.ordinary(tenant).with(Optional.of(new TenantCondition.Throttling(60, 31)));
    TenantCondition both =
        new TenantCondition(
            tenant,
            throttled.throttled(),
            new TreeMap<>(Map.of(Limit.TENANT_CONNECTIONS, 85L, Limit.MESSAGES_PER_MINUTE, 50L)));

    assertThat(stored(tenant)).isEmpty();
    conditions().put(throttled);
    assertThat(stored(tenant)).contains(throttled);
    conditions().put(both);
    assertThat(stored(tenant)).contains(both);
    conditions().put(both.with(Optional.empty()));
    assertThat(stored(tenant)).contains(both.with(Optional.empty()));
  }

  @Test
  default void ordinary_condition_is_not_stored() {
    TenantId tenant = Samples.tenantId();
    conditions()
        .put(
            TenantCondition.ordinary(tenant)
                .with(Optional.of(new TenantCondition.Throttling(0, 10))));

    conditions().put(TenantCondition.ordinary(tenant));
    conditions().put(TenantCondition.ordinary(tenant));

    assertThat(stored(tenant)).isEmpty();
  }
}
