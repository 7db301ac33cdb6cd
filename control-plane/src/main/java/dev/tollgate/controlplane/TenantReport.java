package dev.tollgate.controlplane;

import dev.tollgate.core.Action;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.Upkeep;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantStatus;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Tells of a tenant all that is desired of it, and what it has and uses now. */
final class TenantReport {
  private final Ports ports;
  private final InstantSource clock;

  TenantReport(Ports ports, InstantSource clock) {
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
  Map<String, Object> of(Tenant tenant, boolean settled, Invocation invocation) {
    Map<Action, Bucket> rows = new TreeMap<>();
    ports.buckets().list(tenant.id()).forEach(row -> rows.put(row.id().action(), row));
    Map<Action, BucketSpec> specs = new TreeMap<>();
    rows.forEach((action, row) -> specs.put(action, row.spec()));
    specs.putAll(tenant.buckets());
    List<Map<String, Object>> buckets = new ArrayList<>();
    specs.forEach(
        (action, spec) -> {
          Optional<Bucket> row = Optional.ofNullable(rows.get(action));
          Optional<Long> level = row.flatMap(found -> level(found.id(), invocation));
          State state = state(tenant, action, row.filter(found -> settled || level.isPresent()));
          buckets.add(bucket(action, spec, row, level, state));
        });
    Map<String, Object> document = new LinkedHashMap<>(Documents.of(tenant));
    document.put("connections", ports.connections().count(tenant.id()));
    document.put("buckets", buckets);
    return document;
  }

  /** The level as the queue tells it; empty if it cannot be asked. */
  private Optional<Long> level(BucketId id, Invocation invocation) {
    if (invocation.isOver()) {
      return Optional.empty();
    }
    try {
      return Optional.of(ports.tokens().look(id).tokens());
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
    if (bucket.hibernates()) {
      return State.HIBERNATING;
    }
    boolean changing =
        bucket.spec().filling().mode() == FillMode.DIRECT
            && bucket.upkeep().state() == Upkeep.State.PRODUCED;
    return changing ? State.CHANGING : State.ACTIVE;
  }

  private Map<String, Object> bucket(
      Action action, BucketSpec spec, Optional<Bucket> row, Optional<Long> level, State state) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("action", action.value());
    document.put("ratePerMinute", spec.rate().tokensPerMinute());
    document.put("capacity", spec.capacity());
    document.put("level", level.or(() -> row.map(Bucket::level)).orElse(0L));
    document.put("fillMode", spec.filling().mode().name());
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
