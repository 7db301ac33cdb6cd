package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.connect.TenantActivity;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Tells of a tenant all that is desired of it, and what it has and uses now. */
public final class TenantReport {
  private final Ports ports;
  private final InstantSource clock;

  public TenantReport(Ports ports, InstantSource clock) {
    this.ports = ports;
    this.clock = clock;
  }

  /**
   * A tenant's whole document.
   *
   * @param settled whether its desired state has been brought about
   * @throws Unavailable if its buckets or its connections cannot be asked for; a queue that cannot
   *     be asked is told of as it was last seen
   */
  public Map<String, Object> of(Tenant tenant, boolean settled, Invocation invocation) {
    Map<String, Object> document = new LinkedHashMap<>(Documents.of(tenant));
    List<Map<String, Object>> buckets =
        buckets(
            tenant,
            readable(tenant.id(), invocation),
            row -> {
              Optional<Long> level = level(row.id(), invocation);
              return new Seen(
                  level.orElse(row.availableAt(clock.instant())), settled || level.isPresent());
            });
    document.put("connections", ports.connections().count(tenant.id()));
    document.put("buckets", buckets);
    return document;
  }

  /** A bucket whose row cannot be read is told of like one that has none: it is made anew. */
  private List<Bucket> readable(TenantId id, Invocation invocation) {
    BucketRows rows = ports.buckets().list(id);
    rows.unreadable().values().forEach(row -> invocation.log(row.reason()));
    return rows.buckets();
  }

  /**
   * What a tenant's connections came to and how its buckets are doing, by what is written down: no
   * queue is asked. So levels are those last written, and a bucket is taken to be there if its
   * tenant is settled or a fill has written it.
   *
   * @throws Unavailable if that cannot be asked for
   * @throws UnreadableRow if a row of that cannot be read
   */
  public Map<String, Object> activity(Tenant tenant) {
    Instant now = clock.instant();
    TenantActivity activity = ports.activity().of(tenant.id());
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("connections", activity.connections());
    document.put("admitted", activity.admitted());
    document.put("refused", activity.refused());
    document.put(
        "buckets",
        buckets(
            tenant,
            activity.buckets(),
            row -> new Seen(row.availableAt(now), tenant.isSettled() || row.version() > 0)));
    return document;
  }

  /** The buckets that a tenant is to have, and those that it still has. */
  private List<Map<String, Object>> buckets(
      Tenant tenant, List<Bucket> rows, Function<Bucket, Seen> look) {
    Map<Action, Bucket> byAction = new TreeMap<>();
    rows.forEach(row -> byAction.put(row.id().action(), row));
    Map<Action, BucketSpec> specs = new TreeMap<>();
    byAction.forEach((action, row) -> specs.put(action, row.spec()));
    specs.putAll(tenant.buckets());
    List<Map<String, Object>> buckets = new ArrayList<>();
    specs.forEach(
        (action, spec) -> {
          Optional<Bucket> row = Optional.ofNullable(byAction.get(action));
          Optional<Seen> seen = row.map(look);
          State state = state(tenant, action, row.filter(found -> seen.orElseThrow().isThere()));
          buckets.add(bucket(action, spec, row, seen.map(Seen::level).orElse(0L), state));
        });
    return buckets;
  }

  /** What is seen of a bucket that has a row: its level, and whether all of it is there. */
  private record Seen(long level, boolean isThere) {}

  /**
   * The tokens that are in the bucket by now, as the queue tells it; empty if it cannot be asked.
   */
  private Optional<Long> level(BucketId id, Invocation invocation) {
    if (invocation.isOver()) {
      return Optional.empty();
    }
    try {
      TokenQueue.Level told = ports.tokens().look(id);
      return Optional.of(told.visible() + told.held());
    } catch (Unavailable unavailable) {
      invocation.log("level of " + id + ": " + unavailable.reason());
      return Optional.empty();
    }
  }

  private static State state(Tenant tenant, Action action, Optional<Bucket> provided) {
    if (tenant.status() == TenantStatus.OFFBOARDING || !tenant.buckets().containsKey(action)) {
      return State.REMOVING;
    }
    if (provided.isEmpty()) {
      return State.PROVISIONING;
    }
    if (tenant.status() == TenantStatus.SUSPENDED) {
      return State.SUSPENDED;
    }
    Bucket bucket = provided.get();
    if (bucket.isHibernating()) {
      return State.HIBERNATING;
    }
    boolean changing =
        bucket.spec().fillPolicy().mode() == FillMode.DIRECT
            && bucket.fillState().state() == FillState.State.PRODUCED;
    return changing ? State.CHANGING : State.ACTIVE;
  }

  private Map<String, Object> bucket(
      Action action, BucketSpec spec, Optional<Bucket> row, long level, State state) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("action", action.value());
    document.put("ratePerMinute", spec.rate().tokensPerMinute());
    document.put("capacity", spec.capacity());
    document.put("level", level);
    document.put("fillMode", spec.fillPolicy().mode().name());
    document.put("state", state.name());
    row.filter(found -> state == State.ACTIVE || state == State.CHANGING)
        .ifPresent(
            found -> document.put("nextTokenAt", found.nextTokenAt(clock.instant()).toString()));
    return document;
  }

  /** How a bucket is doing. */
  private enum State {
    /** Its queue or its row is not there yet. */
    PROVISIONING,
    /** It is filled. */
    ACTIVE,
    /** It is filled, by the token producer until its schedule can do so alone. */
    CHANGING,
    /** It is full, and not filled until somebody claims. */
    HIBERNATING,
    /** It is there, and not filled. */
    SUSPENDED,
    /** It is to go. */
    REMOVING
  }
}
