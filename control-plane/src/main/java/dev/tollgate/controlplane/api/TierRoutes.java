package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierChangeResult;
import dev.tollgate.core.Page;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.JsonFields;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.util.Map;
import java.util.Optional;

/** Answers the requests for tiers. */
final class TierRoutes {
  private final Ports ports;
  private final TierCatalog catalog;
  private final Preview preview;

  TierRoutes(Ports ports, TierCatalog catalog, Preview preview) {
    this.ports = ports;
    this.catalog = catalog;
    this.preview = preview;
  }

  /** Lists all tiers. Unreadable rows are skipped and logged. */
  Response list(ApiRequest request) {
    Page<Tier> page = ports.tiers().list();
    Invocation invocation = request.invocation();
    page.unreadable().forEach(row -> invocation.log(row.reason()));
    return Response.json(200, Map.of("tiers", page.items().stream().map(Documents::of).toList()));
  }

  Response show(ApiRequest request) {
    TierName name = request.tierName();
    return ports
        .tiers()
        .find(name)
        .map(tier -> tier(200, tier, Documents.of(tier, catalog.progress(tier))))
        .orElseGet(() -> notFound(name));
  }

  Response put(ApiRequest request) {
    TierName name = request.tierName();
    JsonFields body = request.body();
    Tier tier = RequestBodies.tier(name, body);
    Optional<Long> version = RequestBodies.tierVersion(body);
    IfMatch ifMatch = request.ifMatch();
    checkPreview(name, request);
    return response(
        request.isDryRun()
            ? catalog.plan(tier, version, ifMatch)
            : catalog.put(tier, version, ifMatch, request.invocation()),
        name,
        request);
  }

  /** Refuses invalid parameters of the preview, even if the request is not a dry run. */
  static void checkPreview(TierName name, ApiRequest request) {
    var unusedReplay = request.replay();
    var unusedCursor = request.cursor(Preview.listing(name));
    var unusedLimit = request.limit();
  }

  Response remove(ApiRequest request) {
    TierName name = request.tierName();
    IfMatch ifMatch = request.ifMatch();
    if (request.isDryRun()) {
      return response(catalog.planRemoval(name, ifMatch), name, request);
    }
    LimitSchedules windows =
        ports.tiers().find(name).map(Tier::schedules).orElse(LimitSchedules.NONE);
    TierChangeResult result = catalog.remove(name, ifMatch);
    if (result instanceof TierChangeResult.Removed) {
      ScheduleRoutes.delete(ports, Subject.tier(name), windows, request.invocation());
    }
    return response(result, name, request);
  }

  Response response(TierChangeResult result, TierName name, ApiRequest request) {
    if (result instanceof TierChangeResult.Created created) {
      return tier(201, created.tier(), Documents.of(created.tier()))
          .with("location", "/tiers/" + name);
    }
    if (result instanceof TierChangeResult.Applied applied) {
      return tier(applied.rolledOut() ? 200 : 202, applied.tier(), Documents.of(applied.tier()));
    }
    if (result instanceof TierChangeResult.Planned planned) {
      Response response =
          Response.json(
              200,
              preview.of(
                  planned,
                  request.cursor(Preview.listing(name)),
                  request.limit(),
                  request.replay(),
                  request.invocation()));
      return planned
          .current()
          .map(current -> Versions.tagged(response, current.version()))
          .orElse(response);
    }
    if (result instanceof TierChangeResult.Removable removable) {
      return tier(200, removable.current(), preview.of(removable, request.invocation()));
    }
    if (result instanceof TierChangeResult.VersionMismatch mismatch) {
      return Versions.mismatch("Tier", name, mismatch.current().map(Tier::version));
    }
    if (result instanceof TierChangeResult.Conflict conflict) {
      return Problem.conflict(conflict.reason()).response();
    }
    return result instanceof TierChangeResult.Removed ? Response.noContent() : notFound(name);
  }

  private static Response tier(int status, Tier tier, Map<String, Object> document) {
    return Versions.tagged(Response.json(status, document), tier.version());
  }

  private static Response notFound(TierName name) {
    return Problem.notFound("No tier named `" + name + "`. List tiers with `tollgate tiers list`.")
        .response();
  }
}
