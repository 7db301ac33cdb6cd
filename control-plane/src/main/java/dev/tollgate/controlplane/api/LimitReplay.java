package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.api.Preview.PlannedTenant;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.core.Action;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.history.Counts;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.Replay;
import dev.tollgate.core.history.Replay.Refusals;
import dev.tollgate.core.history.Span;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Whom the limits of a planned change would have refused in the recorded minutes. Of each tenant it
 * replays the limits that the change alters and enforces. It reads the history only.
 */
final class LimitReplay {
  /** The limits whose refusals follow from minutes of a tenant, and the buckets of the rates. */
  private static final Map<Limit, Action> BUCKETS =
      Map.of(Limit.TENANT_PER_MINUTE, Action.CONNECT, Limit.MESSAGES_PER_MINUTE, Action.MESSAGE);

  private static final List<Limit> LIMITS =
      List.of(Limit.TENANT_PER_MINUTE, Limit.TENANT_CONNECTIONS, Limit.MESSAGES_PER_MINUTE);

  /** The time before the current minute whose counts may still change. */
  private static final Duration INCOMPLETE = Duration.ofMinutes(2);

  /**
   * The tenants that are read at once, and at least for one page. Reading is bound by the
   * processor: 31 busy days take almost a second of it, and the function has a third of one.
   */
  private static final int AT_ONCE = 2;

  private final History history;
  private final ParallelTasks parallel;

  LimitReplay(History history, ParallelTasks parallel) {
    this.history = history;
    this.parallel = parallel;
  }

  /**
   * A replay of the first tenants of a list.
   *
   * @param tenants how many tenants were replayed
   */
  record Replayed(int tenants, Map<String, Object> document) {}

  /** The limits that a change of a tier alters for tenants without overrides. */
  static List<Limit> altered(Tier before, Tier after) {
    return LIMITS.stream()
        .filter(limit -> !setting(limit, before).equals(setting(limit, after)))
        .toList();
  }

  /**
   * Replays tenants until half of the invocation's time is over, but at least the first ones.
   *
   * @param altered the limits that the tier alters. Tenants for which it does not, because they
   *     override the limit, are counted
   * @param length how long before now the first minute is
   * @throws Unavailable if the history cannot be read, or the time runs out
   */
  Replayed of(
      List<PlannedTenant> tenants, List<Limit> altered, Duration length, Invocation invocation) {
    Instant to = invocation.clock().instant().truncatedTo(ChronoUnit.MINUTES).minus(INCOMPLETE);
    Span span = new Span(to.minus(length), to);
    Invocation half = invocation.part(2);
    List<Map<String, Object>> rows = new ArrayList<>();
    SortedMap<String, Long> leftOut = new TreeMap<>();
    SortedMap<String, Long> notKnown = new TreeMap<>();
    int done = 0;
    while (done < tenants.size() && (done == 0 || !half.isOver())) {
      List<PlannedTenant> next = tenants.subList(done, Math.min(done + AT_ONCE, tenants.size()));
      parallel.map(next, tenant -> replay(tenant, span), invocation).forEach(rows::addAll);
      for (PlannedTenant tenant : next) {
        altered.stream()
            .filter(limit -> !alters(tenant, limit))
            .forEach(limit -> leftOut.merge(limit.key(), 1L, Long::sum));
        replayed(tenant)
            .filter(limit -> !isKnown(tenant.current(), limit))
            .forEach(limit -> notKnown.merge(limit.key(), 1L, Long::sum));
      }
      done += next.size();
    }
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("from", span.from().toString());
    document.put("to", span.to().toString());
    document.put("limits", rows);
    document.put("leftOut", leftOut);
    document.put("notKnown", notKnown);
    return new Replayed(done, document);
  }

  private List<Map<String, Object>> replay(PlannedTenant tenant, Span span) {
    List<Limit> limits =
        replayed(tenant).filter(limit -> isKnown(tenant.current(), limit)).toList();
    List<Map<String, Object>> rows = new ArrayList<>();
    if (limits.isEmpty()) {
      return rows;
    }
    SortedMap<Instant, Counts> minutes = history.of(tenant.current().id(), span);
    for (Limit limit : limits) {
      Refusals refusals = refusals(minutes, limit, tenant.planned());
      if (!refusals.isNone()) {
        rows.add(row(tenant, limit, refusals));
      }
    }
    return rows;
  }

  /** The limits that the change alters and that are enforced then. */
  private static Stream<Limit> replayed(PlannedTenant tenant) {
    Limits next = tenant.planned().limits();
    return LIMITS.stream()
        .filter(limit -> next.mode(limit) == LimitMode.ENFORCE && alters(tenant, limit));
  }

  /**
   * Whether the history has what the limit counts. It has tokens, not messages: those of a limit
   * that is not enforced take none, and buckets in fill mode {@code DIRECT} do not count theirs.
   */
  private static boolean isKnown(Tenant current, Limit limit) {
    return limit != Limit.MESSAGES_PER_MINUTE
        || (current.limits().mode(limit) == LimitMode.ENFORCE
            && bucket(limit, current.buckets())
                .filter(bucket -> bucket.fillPolicy().mode() != FillMode.DIRECT)
                .isPresent());
  }

  private static Refusals refusals(SortedMap<Instant, Counts> minutes, Limit limit, Tenant tenant) {
    return bucket(limit, tenant.buckets())
        .map(
            bucket ->
                limit == Limit.TENANT_PER_MINUTE
                    ? Replay.connections(minutes, bucket)
                    : Replay.messages(minutes, bucket))
        .orElseGet(() -> Replay.open(minutes, tenant.limits().get(limit)));
  }

  private static Map<String, Object> row(PlannedTenant tenant, Limit limit, Refusals refusals) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("tenantId", tenant.current().id().value());
    row.put("limit", limit.key());
    row.put("now", tenant.current().limits().get(limit));
    row.put("new", tenant.planned().limits().get(limit));
    row.put("least", refusals.least());
    row.put("most", refusals.most());
    row.put("minutes", refusals.minutes());
    row.put("longestSeconds", refusals.longest().toSeconds());
    refusals.first().ifPresent(at -> row.put("first", at.toString()));
    refusals.last().ifPresent(at -> row.put("last", at.toString()));
    return row;
  }

  private static boolean alters(PlannedTenant tenant, Limit limit) {
    return !setting(limit, tenant.current()).equals(setting(limit, tenant.planned()));
  }

  private static List<Object> setting(Limit limit, Tier tier) {
    return setting(limit, tier.limits(), tier.bucketsUnder(Overrides.NONE));
  }

  private static List<Object> setting(Limit limit, Tenant tenant) {
    return setting(limit, tenant.limits(), tenant.buckets());
  }

  /** Value, mode and capacity. */
  private static List<Object> setting(
      Limit limit, Limits limits, SortedMap<Action, BucketSpec> buckets) {
    return List.of(
        limits.get(limit), limits.mode(limit), bucket(limit, buckets).map(BucketSpec::capacity));
  }

  private static Optional<BucketSpec> bucket(Limit limit, SortedMap<Action, BucketSpec> buckets) {
    return Optional.ofNullable(BUCKETS.get(limit)).map(buckets::get);
  }
}
