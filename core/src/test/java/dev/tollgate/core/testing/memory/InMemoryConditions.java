package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.condition.TenantCondition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Conditions of tenants in memory. */
public final class InMemoryConditions implements Conditions {
  private final Map<TenantId, TenantCondition> stored = new HashMap<>();

  @Override
  public synchronized List<TenantCondition> list() {
    return List.copyOf(stored.values());
  }

  @Override
  public synchronized void put(TenantCondition condition) {
    if (condition.isOrdinary()) {
      stored.remove(condition.tenant());
    } else {
      stored.put(condition.tenant(), condition);
    }
  }
}
