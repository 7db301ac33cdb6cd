package dev.tollgate.core.history;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Changes, added up.
 *
 * @param minutes the counts of each tenant in each minute
 */
public record HistoryBatch(SortedMap<Instant, Map<TenantId, Counts>> minutes) {
  /** Adds changes up. */
  public static HistoryBatch of(List<Change> changes) {
    SortedMap<Instant, Map<TenantId, Counts>> minutes = new TreeMap<>();
    for (Change change : changes) {
      minutes
          .computeIfAbsent(change.at().truncatedTo(ChronoUnit.MINUTES), minute -> new HashMap<>())
          .merge(change.tenant(), change.counts(), Counts::plus);
    }
    return new HistoryBatch(minutes);
  }

  /** The minutes of each tenant. */
  public Map<TenantId, SortedMap<Instant, Counts>> byTenant() {
    Map<TenantId, SortedMap<Instant, Counts>> byTenant = new HashMap<>();
    minutes.forEach(
        (minute, tenants) ->
            tenants.forEach(
                (tenant, counts) ->
                    byTenant.computeIfAbsent(tenant, id -> new TreeMap<>()).put(minute, counts)));
    return byTenant;
  }

  /** All tenants together in a minute. */
  public static Counts total(Map<TenantId, Counts> tenants) {
    return tenants.values().stream().reduce(Counts.NONE, Counts::besides);
  }
}
