package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tenants.TenantChangeResult;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tenants.TenantPatch;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.IdempotencyKeyHeader;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Answers the requests for tenants. */
final class TenantRoutes {
  private static final String ALL_TENANTS = "tenants";

  private final Ports ports;
  private final Tenants tenants;
  private final TenantLifecycle lifecycle;
  private final Idempotency idempotency;
  private final Preview preview;
  private final TenantDocument tenantDocument;
  private final ParallelTasks parallel;
  private final InstantSource clock;

  TenantRoutes(
      Ports ports,
      TenantLifecycle lifecycle,
      Idempotency idempotency,
      Preview preview,
      TenantDocument tenantDocument,
      ParallelTasks parallel,
      InstantSource clock) {
    this.ports = ports;
    this.tenants = ports.tenants();
    this.lifecycle = lifecycle;
    this.idempotency = idempotency;
    this.preview = preview;
    this.tenantDocument = tenantDocument;
    this.parallel = parallel;
    this.clock = clock;
  }

  Response onboard(ApiRequest request) {
    request.requireNoDryRun();
    RequestBodies.Onboarding onboarding = RequestBodies.onboarding(request.body());
    return idempotency.once(
        IdempotencyKeyHeader.of(request.http()),
        request.http(),
        () -> onboard(onboarding, request.invocation()));
  }

  private Response onboard(RequestBodies.Onboarding onboarding, Invocation invocation) {
    TenantChangeResult result =
        lifecycle.onboard(onboarding.id(), onboarding.tier(), onboarding.overrides(), invocation);
    return response(result, onboarding.id(), invocation);
  }

  Response change(ApiRequest request) {
    TenantId id = request.tenantId();
    boolean dryRun = request.isDryRun();
    Optional<Duration> replay = request.replay();
    IfMatch ifMatch = request.ifMatch();
    TenantPatch patch = RequestBodies.tenantPatch(request.body());
    Invocation invocation = request.invocation();
    return response(
        dryRun
            ? lifecycle.plan(id, patch, ifMatch)
            : lifecycle.change(id, patch, ifMatch, invocation),
        id,
        replay,
        invocation);
  }

  Response offboard(ApiRequest request) {
    TenantId id = request.tenantId();
    boolean dryRun = request.isDryRun();
    IfMatch ifMatch = request.ifMatch();
    Invocation invocation = request.invocation();
    LimitSchedules windows =
        dryRun
            ? LimitSchedules.NONE
            : ports
                .tenants()
                .find(id)
                .map(tenant -> tenant.overrides().schedules())
                .orElse(LimitSchedules.NONE);
    TenantChangeResult result =
        dryRun
            ? lifecycle.planOffboarding(id, ifMatch)
            : lifecycle.offboard(id, ifMatch, invocation);
    if (result instanceof TenantChangeResult.Offboarding
        || result instanceof TenantChangeResult.TenantNotFound) {
      ScheduleRoutes.delete(ports, Subject.tenant(id), windows, invocation);
    }
    if (result instanceof TenantChangeResult.TenantNotFound) {
      return dryRun ? Response.json(200, Preview.ofMissingTenant()) : Response.noContent();
    }
    return response(result, id, invocation);
  }

  Response clearLine(ApiRequest request) {
    request.requireNoDryRun();
    TenantId id = request.tenantId();
    Invocation invocation = request.invocation();
    return response(lifecycle.clearLine(id, request.ifMatch(), invocation), id, invocation);
  }

  private Response response(TenantChangeResult result, TenantId id, Invocation invocation) {
    return response(result, id, Optional.empty(), invocation);
  }

  Response response(
      TenantChangeResult result, TenantId id, Optional<Duration> replay, Invocation invocation) {
    if (result instanceof TenantChangeResult.Onboarded onboarded) {
      return tenant(201, onboarded.tenant(), onboarded.outcome(), invocation)
          .with("location", "/tenants/" + id);
    }
    if (result instanceof TenantChangeResult.Applied applied) {
      return tenant(200, applied.tenant(), applied.outcome(), invocation);
    }
    if (result instanceof TenantChangeResult.Offboarding offboarding) {
      return tenant(202, offboarding.tenant(), offboarding.outcome(), invocation);
    }
    if (result instanceof TenantChangeResult.LineCleared cleared) {
      return tenant(200, cleared.tenant(), cleared.tenant().isSettled(), invocation);
    }
    if (result instanceof TenantChangeResult.Planned planned) {
      return Versions.tagged(
          Response.json(200, preview.of(planned, replay, invocation)), planned.current().version());
    }
    if (result instanceof TenantChangeResult.Removable removable) {
      return Versions.tagged(
          Response.json(200, preview.of(removable, invocation)), removable.current().version());
    }
    if (result instanceof TenantChangeResult.VersionMismatch mismatch) {
      return Versions.mismatch("Tenant", id, mismatch.current().map(Tenant::version));
    }
    if (result instanceof TenantChangeResult.Conflict conflict) {
      return Problem.conflict(conflict.reason())
          .with("tenant", Documents.of(conflict.tenant()))
          .response();
    }
    if (result instanceof TenantChangeResult.TierNotFound missing) {
      throw new InvalidValue(
          "tier", missing.name(), "an existing tier; list them with `tollgate tiers list`");
    }
    return notFound(id);
  }

  private Response tenant(
      int status, Tenant tenant, ReconcileOutcome outcome, Invocation invocation) {
    return tenant(status, tenant, outcome instanceof ReconcileOutcome.Settled, invocation);
  }

  private Response tenant(int status, Tenant tenant, boolean settled, Invocation invocation) {
    return Versions.tagged(
        Response.json(status, tenantDocument.of(tenant, settled, invocation)), tenant.version());
  }

  Response show(ApiRequest request) {
    TenantId id = request.tenantId();
    Invocation invocation = request.invocation();
    return tenants
        .find(id)
        .map(tenant -> tenant(200, tenant, tenant.isSettled(), invocation))
        .orElseGet(() -> notFound(id));
  }

  /** Lists tenants. Unreadable rows are skipped and logged. */
  Response list(ApiRequest request) {
    TenantFilter filter = request.tenantFilter();
    String listing = listing(filter);
    Page<Tenant> page = tenants.search(filter, request.cursor(listing), request.limit());
    Invocation invocation = request.invocation();
    page.unreadable().forEach(row -> invocation.log(row.reason()));
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenants", page.items().stream().map(Documents::of).toList());
    page.next().ifPresent(next -> document.put("next", Cursor.encode(listing, next)));
    return Response.json(200, document);
  }

  /**
   * The name of a filtered listing, to which cursors are bound. It is unambiguous because neither a
   * tenant's id nor a tier's name may contain the separators.
   */
  private static String listing(TenantFilter filter) {
    return filter.equals(TenantFilter.ALL)
        ? ALL_TENANTS
        : ALL_TENANTS
            + "?prefix="
            + filter.prefix().orElse("")
            + "&tier="
            + filter.tier().map(TierName::value).orElse("")
            + "&pending="
            + filter.pending();
  }

  /** Shows the activity of several tenants. Unknown tenants and unreadable rows are skipped. */
  Response showActivity(ApiRequest request) {
    Set<TenantId> ids = request.tenantIds();
    Invocation invocation = request.invocation();
    List<Map<String, Object>> activities =
        parallel.map(ids, id -> activity(id, invocation), invocation).stream()
            .flatMap(Optional::stream)
            .toList();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("at", clock.instant().toString());
    document.put("tenants", activities);
    return Response.json(200, document);
  }

  private Optional<Map<String, Object>> activity(TenantId id, Invocation invocation) {
    try {
      return tenants.find(id).map(tenantDocument::activity);
    } catch (UnreadableRow unreadable) {
      invocation.log("activity of " + id + ": " + unreadable.reason());
      return Optional.empty();
    }
  }

  static Response notFound(TenantId id) {
    return Problem.notFound(
            "No tenant named `" + id + "`. List tenants with `tollgate tenants list`.")
        .response();
  }
}
