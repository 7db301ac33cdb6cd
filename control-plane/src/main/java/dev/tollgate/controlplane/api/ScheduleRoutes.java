package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tenants.TenantChangeResult;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tenants.TenantPatch;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierChangeResult;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Answers the requests that schedule limits of tiers and tenants, and cancel them.
 *
 * <p>The schedules of EventBridge are created before the row of the tier or tenant is changed, and
 * deleted after it. A crash in between leaves some that fire once and change nothing.
 */
final class ScheduleRoutes {
  /**
   * An end of a window that is nearer has no schedule, because EventBridge may refuse a time that
   * passes before the request arrives. The sweep of the minute opens or closes the window.
   */
  private static final Duration SOON = Duration.ofSeconds(10);

  private final Ports ports;
  private final TierCatalog catalog;
  private final TenantLifecycle lifecycle;
  private final TierRoutes tiers;
  private final TenantRoutes tenants;
  private final InstantSource clock;

  ScheduleRoutes(
      Ports ports,
      TierCatalog catalog,
      TenantLifecycle lifecycle,
      TierRoutes tiers,
      TenantRoutes tenants,
      InstantSource clock) {
    this.ports = ports;
    this.catalog = catalog;
    this.lifecycle = lifecycle;
    this.tiers = tiers;
    this.tenants = tenants;
    this.clock = clock;
  }

  Response addToTier(ApiRequest request) {
    TierName name = request.tierName();
    TierRoutes.checkPreview(name, request);
    Instant now = clock.instant();
    LimitSchedule window = RequestBodies.schedule(request.body(), now);
    IfMatch ifMatch = request.ifMatch();
    if (request.isDryRun()) {
      return tiers.response(
          catalog.planSchedules(name, preview(window, now), ifMatch), name, request);
    }
    UnaryOperator<LimitSchedules> change = schedules -> schedules.with(window);
    TierChangeResult plan = catalog.planSchedules(name, change, ifMatch);
    if (!(plan instanceof TierChangeResult.Planned planned)) {
      return tiers.response(plan, name, request);
    }
    put(Subject.tier(name), window, now);
    Invocation invocation = request.invocation();
    TierChangeResult result = catalog.schedule(name, change, ifMatch, invocation);
    if (!(result instanceof TierChangeResult.Applied)) {
      return tiers.response(result, name, request);
    }
    Optional<Tier> tier = catalog.moveWindows(name, invocation);
    return added(
        planned.changesNothing(), window, tier.map(Tier::schedules), tier.map(Tier::version));
  }

  Response addToTenant(ApiRequest request) {
    TenantId id = request.tenantId();
    Optional<Duration> replay = request.replay();
    Instant now = clock.instant();
    LimitSchedule window = RequestBodies.schedule(request.body(), now);
    IfMatch ifMatch = request.ifMatch();
    Invocation invocation = request.invocation();
    if (request.isDryRun()) {
      TenantPatch opened = TenantPatch.of(preview(window, now));
      return tenants.response(lifecycle.plan(id, opened, ifMatch), id, replay, invocation);
    }
    TenantPatch patch = TenantPatch.of(schedules -> schedules.with(window));
    TenantChangeResult plan = lifecycle.plan(id, patch, ifMatch);
    if (!(plan instanceof TenantChangeResult.Planned planned)) {
      return tenants.response(plan, id, replay, invocation);
    }
    put(Subject.tenant(id), window, now);
    TenantChangeResult result = lifecycle.change(id, patch, ifMatch, invocation);
    if (!(result instanceof TenantChangeResult.Applied)) {
      return tenants.response(result, id, replay, invocation);
    }
    lifecycle.moveWindows(id, invocation);
    Optional<Tenant> tenant = ports.tenants().find(id);
    return added(
        planned.planned().hasSameDesiredStateAs(planned.current()),
        window,
        tenant.map(changed -> changed.overrides().schedules()),
        tenant.map(Tenant::version));
  }

  /** The schedules when the window opens, or now if it is open. */
  private static UnaryOperator<LimitSchedules> preview(LimitSchedule window, Instant now) {
    Instant opening = window.opensAt().isAfter(now) ? window.opensAt() : now;
    return schedules -> schedules.with(window).openAt(opening);
  }

  private void put(Subject owner, LimitSchedule window, Instant now) {
    ports.windows().ifPresent(schedules -> schedules.put(owner, window, now.plus(SOON)));
  }

  private static Response added(
      boolean before,
      LimitSchedule window,
      Optional<LimitSchedules> schedules,
      Optional<Long> version) {
    LimitSchedule current = schedules.flatMap(all -> all.find(window.id())).orElse(window);
    Response response = Response.json(before ? 200 : 201, Documents.withId(current));
    return version.map(number -> Versions.tagged(response, number)).orElse(response);
  }

  Response cancelOfTier(ApiRequest request) {
    TierName name = request.tierName();
    TierRoutes.checkPreview(name, request);
    String id = request.http().path("schedule");
    IfMatch ifMatch = request.ifMatch();
    Optional<Tier> tier = ports.tiers().find(name);
    if (tier.isEmpty()) {
      return tiers.response(new TierChangeResult.TierNotFound(), name, request);
    }
    Optional<LimitSchedule> window = tier.get().schedules().find(id);
    if (window.isEmpty()) {
      return notFound(id, "tier `" + name + "`", "tiers", name);
    }
    UnaryOperator<LimitSchedules> change = schedules -> schedules.without(id);
    Invocation invocation = request.invocation();
    TierChangeResult result =
        request.isDryRun()
            ? catalog.planSchedules(name, change, ifMatch)
            : catalog.schedule(name, change, ifMatch, invocation);
    if (!(result instanceof TierChangeResult.Applied)) {
      return tiers.response(result, name, request);
    }
    delete(ports, Subject.tier(name), new LimitSchedules(List.of(window.get())), invocation);
    return Response.noContent();
  }

  Response cancelOfTenant(ApiRequest request) {
    TenantId tenantId = request.tenantId();
    String id = request.http().path("schedule");
    Optional<Duration> replay = request.replay();
    IfMatch ifMatch = request.ifMatch();
    Optional<Tenant> tenant = ports.tenants().find(tenantId);
    if (tenant.isEmpty()) {
      return TenantRoutes.notFound(tenantId);
    }
    Optional<LimitSchedule> window = tenant.get().overrides().schedules().find(id);
    if (window.isEmpty()) {
      return notFound(id, "tenant `" + tenantId + "`", "tenants", tenantId);
    }
    TenantPatch patch = TenantPatch.of(schedules -> schedules.without(id));
    Invocation invocation = request.invocation();
    TenantChangeResult result =
        request.isDryRun()
            ? lifecycle.plan(tenantId, patch, ifMatch)
            : lifecycle.change(tenantId, patch, ifMatch, invocation);
    if (!(result instanceof TenantChangeResult.Applied)) {
      return tenants.response(result, tenantId, replay, invocation);
    }
    delete(ports, Subject.tenant(tenantId), new LimitSchedules(List.of(window.get())), invocation);
    return Response.noContent();
  }

  private static Response notFound(String id, String owner, String command, Object name) {
    return Problem.notFound(
            "No schedule `%s` of %s. List its schedules with `tollgate %s show %s`."
                .formatted(id, owner, command, name))
        .response();
  }

  /**
   * Deletes the schedules of windows that were cancelled or whose owner was removed. A failure is
   * logged: a schedule that is left fires once and changes nothing.
   */
  static void delete(Ports ports, Subject owner, LimitSchedules windows, Invocation invocation) {
    for (LimitSchedule window : windows.all()) {
      try {
        ports.windows().ifPresent(schedules -> schedules.delete(owner, window));
      } catch (Unavailable unavailable) {
        invocation.log("schedules of " + owner + ": " + unavailable.reason());
      }
    }
  }
}
