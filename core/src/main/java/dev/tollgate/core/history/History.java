package dev.tollgate.core.history;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Stores what happened to tenants, by the minute and by the hour. A minute or an hour in which
 * nothing happened is not stored. Every method throws {@link Unavailable} if the store fails.
 */
public interface History {
  /**
   * Adds changes. If it throws, some may have been added; the same batch can be added again, and
   * counts once.
   *
   * @param batch the name of these changes: another batch has another name. 1 to 64 characters
   */
  void add(String batch, List<Change> changes);

  /** The minutes of a tenant. */
  SortedMap<Instant, Counts> of(TenantId tenant, Span span);

  /** The minutes of all tenants together. */
  SortedMap<Instant, Counts> ofAll(Span span);

  /**
   * The tenants to which something happened, with what happened in the whole time.
   *
   * @param span within the last 27 hours: the tenants of a minute are not kept longer
   */
  Map<TenantId, Counts> active(Span span);

  /**
   * Writes an hour, first of each tenant and then of all. Replaces what an earlier call wrote.
   *
   * @param hour its beginning
   * @param all all tenants together
   */
  void putHour(Instant hour, Map<TenantId, Counts> tenants, Counts all);

  /** The hours of a tenant that were written and begin in the span. */
  SortedMap<Instant, Counts> hours(TenantId tenant, Span span);

  /** The hours of all tenants together that were written and begin in the span. */
  SortedMap<Instant, Counts> hoursOfAll(Span span);
}
