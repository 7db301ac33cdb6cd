package dev.tollgate.core.testing.memory;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.history.Change;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.HistoryBatch;
import dev.tollgate.core.history.Span;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** History in memory. */
public class InMemoryHistory implements History {
  private final Map<String, List<Change>> batches = new TreeMap<>();
  private final Map<TenantId, SortedMap<Instant, Counts>> hours = new HashMap<>();
  private final SortedMap<Instant, Counts> hoursOfAll = new TreeMap<>();

  @Override
  public synchronized void add(String batch, List<Change> changes) {
    InvalidValue.inRange("batch", batch.length(), 1, 64);
    batches.put(batch, List.copyOf(changes));
  }

  private HistoryBatch in(Span span) {
    return HistoryBatch.of(
        batches.values().stream()
            .flatMap(List::stream)
            .filter(change -> !change.at().isBefore(span.from()) && change.at().isBefore(span.to()))
            .toList());
  }

  @Override
  public synchronized SortedMap<Instant, Counts> of(TenantId tenant, Span span) {
    return in(span).byTenant().getOrDefault(tenant, new TreeMap<>());
  }

  @Override
  public synchronized SortedMap<Instant, Counts> ofAll(Span span) {
    SortedMap<Instant, Counts> all = new TreeMap<>();
    for (List<Change> batch : batches.values()) {
      HistoryBatch.of(batch)
          .minutes()
          .forEach(
              (minute, tenants) -> all.merge(minute, HistoryBatch.total(tenants), Counts::plus));
    }
    return all.subMap(span.from(), span.to());
  }

  @Override
  public synchronized Map<TenantId, Counts> active(Span span) {
    Map<TenantId, Counts> active = new HashMap<>();
    in(span)
        .byTenant()
        .forEach(
            (tenant, minutes) ->
                minutes.values().forEach(counts -> active.merge(tenant, counts, Counts::plus)));
    return active;
  }

  @Override
  public synchronized void putHour(Instant hour, Map<TenantId, Counts> tenants, Counts all) {
    tenants.forEach((tenant, counts) -> putHour(hour, tenant, counts));
    hoursOfAll.put(hour, all);
  }

  /** Writes the hour of one tenant. */
  protected void putHour(Instant hour, TenantId tenant, Counts counts) {
    hours.computeIfAbsent(tenant, id -> new TreeMap<>()).put(hour, counts);
  }

  @Override
  public synchronized SortedMap<Instant, Counts> hours(TenantId tenant, Span span) {
    return new TreeMap<>(
        hours.getOrDefault(tenant, new TreeMap<>()).subMap(span.from(), span.to()));
  }

  @Override
  public synchronized SortedMap<Instant, Counts> hoursOfAll(Span span) {
    return new TreeMap<>(hoursOfAll.subMap(span.from(), span.to()));
  }
}
