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

/** Renders a tenant's desired state together with its current usage. */
final class TenantDocument {
  private final Ports ports;
  private final InstantSource clock;

  TenantDocument(Ports ports, InstantSource clock) {
    this.ports = ports;
    this.clock = clock;
  }

  /**
   * The complete document of a tenant.
   *
   * @param settled whether the tenant has reached its desired state
   * @throws Unavailable if the rows of its buckets or connections cannot be read. The level of an
   *     unavailable queue is the last known one.
   */
  Map<String, Object> of(Tenant tenant, boolean settled, Invocation invocation) {
    Map<String, Object> document = new LinkedHashMap<>(Documents.of(tenant));
    List<Map<String, Object>> buckets =
        buckets(
            tenant,
            readable(tenant.id(), invocation),
            row -> {
              Optional<Long> level =
                  level(row.id(), invocation)
                      .map(tokens -> row.hasVoidTokensAt(clock.instant()) ? 0 : tokens);
              return new Observation(
                  level.orElse(row.at(clock.instant()).available()),
                  settled || level.isPresent(),
                  level.isEmpty());
            });
    ports
        .tiers()
        .find(tenant.tier())
        .ifPresent(tier -> Documents.putSchedules(document, "tierSchedules", tier.schedules()));
    document.put("connections", ports.connections().count(tenant.id()));
    document.put("buckets", buckets);
    return document;
  }

  /**
   * The readable rows. A bucket with an unreadable row counts as missing, as for the reconciler.
   */
  private List<Bucket> readable(TenantId id, Invocation invocation) {
    BucketRows rows = ports.buckets().list(id);
    rows.unreadable().values().forEach(row -> invocation.log(row.reason()));
    return rows.buckets();
  }

  /**
   * The counts of a tenant's connections and the states of its buckets, from rows only. Levels are
   * those of the last fills, because no request is sent to a queue. A bucket counts as existing if
   * its tenant is settled or a fill has updated its row.
   *
   * @throws Unavailable if a row cannot be read now
   * @throws UnreadableRow if a row cannot be parsed
   */
  Map<String, Object> activity(Tenant tenant) {
    Instant now = clock.instant();
    TenantActivity activity = ports.activity().of(tenant.id());
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenantId", tenant.id().value());
    document.put("connections", activity.connections());
    document.put("admitted", activity.admitted());
    if (activity.withoutToken() > 0) {
      document.put("withoutToken", activity.withoutToken());
    }
    document.put("refused", activity.refused());
    document.put(
        "buckets",
        buckets(
            tenant,
            activity.buckets(),
            row ->
                new Observation(
                    row.at(now).available(), tenant.isSettled() || row.version() > 0, false)));
    return document;
  }

  /** The buckets of the tenant's desired state, and buckets that are not removed yet. */
  private List<Map<String, Object>> buckets(
      Tenant tenant, List<Bucket> rows, Function<Bucket, Observation> observe) {
    Map<Action, Bucket> byAction = new TreeMap<>();
    rows.forEach(row -> byAction.put(row.id().action(), row));
    Map<Action, BucketSpec> specs = new TreeMap<>();
    byAction.forEach((action, row) -> specs.put(action, row.spec()));
    specs.putAll(tenant.buckets());
    List<Map<String, Object>> buckets = new ArrayList<>();
    specs.forEach(
        (action, spec) -> {
          Optional<Bucket> row = Optional.ofNullable(byAction.get(action));
          Optional<Observation> observed = row.map(observe);
          State state = state(tenant, action, row.filter(found -> observed.orElseThrow().exists()));
          buckets.add(bucket(action, spec, row, observed.orElse(Observation.NONE), state));
        });
    return buckets;
  }

  /**
   * The level of a bucket that has a row.
   *
   * @param exists whether its queue exists, too
   * @param isEstimate whether the queue did not answer
   */
  private record Observation(long level, boolean exists, boolean isEstimate) {
    private static final Observation NONE = new Observation(0, false, false);
  }

  /** The number of tokens in the bucket's queue; empty if the queue is unavailable. */
  private Optional<Long> level(BucketId id, Invocation invocation) {
    if (invocation.isOver()) {
      return Optional.empty();
    }
    try {
      TokenQueue.Level level = ports.tokens().countTokens(id);
      return Optional.of(level.visible() + level.held());
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
      Action action, BucketSpec spec, Optional<Bucket> row, Observation observed, State state) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("action", action.value());
    Documents.putRefill(document, spec.refill());
    document.put("capacity", spec.capacity());
    document.put("level", observed.level());
    if (observed.isEstimate()) {
      document.put("levelEstimated", true);
    }
    document.put("fillMode", spec.fillPolicy().mode().name());
    document.put("state", state.name());
    row.filter(found -> state == State.ACTIVE || state == State.CHANGING)
        .ifPresent(
            found -> document.put("nextTokenAt", found.at(clock.instant()).nextToken().toString()));
    row.filter(found -> found.spec().keepsLine())
        .ifPresent(found -> document.put("line", line(found, clock.instant())));
    row.filter(Bucket::mintedInFull).ifPresent(found -> document.put("minted", found.minted()));
    return document;
  }

  private static Map<String, Object> line(Bucket bucket, Instant now) {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("length", bucket.at(now).waiting());
    // Rounded up, as in Retry-After.
    document.put("waitSeconds", bucket.at(now).lineWait().plusMillis(999).toSeconds());
    return document;
  }

  /** The state of a bucket. */
  private enum State {
    /** Its queue or its row does not exist yet. */
    PROVISIONING,
    /** It is filled regularly. */
    ACTIVE,
    /** The token producer fills it until its own schedule takes over. */
    CHANGING,
    /** It is full, and not filled until the next claim. */
    HIBERNATING,
    /** It exists, and is not filled because its tenant is suspended. */
    SUSPENDED,
    /** It will be removed. */
    REMOVING
  }
}
