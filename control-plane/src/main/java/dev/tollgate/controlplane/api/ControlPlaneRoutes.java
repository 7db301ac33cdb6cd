package dev.tollgate.controlplane.api;

import dev.tollgate.controlplane.doctor.Doctor;
import dev.tollgate.controlplane.invocation.ParallelTasks;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.core.alarm.Alarms;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.history.History;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.message.PushQueue;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.http.Response;
import dev.tollgate.http.Routes;
import java.time.InstantSource;
import java.util.Map;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The routes of the control plane's HTTP API. */
public final class ControlPlaneRoutes {
  private final CurrentAuthor author;
  private final InstantSource clock;

  private ControlPlaneRoutes(CurrentAuthor author, InstantSource clock) {
    this.author = author;
    this.clock = clock;
  }

  /**
   * What requests read and write beside tenants and tiers.
   *
   * @param keys the idempotency keys of requests that were processed
   * @param history what happened to tenants
   * @param audit who changed what
   * @param admitAll the switch that lifts all limits
   * @param deadLetters messages of tenants that failed too often
   * @param notes where acts are recorded that change no settings
   * @param pushes sends pushes to sessions
   * @param pushQueue keeps pushes to whole tenants
   */
  public record Stores(
      IdempotencyKeys keys,
      History history,
      AuditLog audit,
      AdmitAllSwitch admitAll,
      Alarms alarms,
      DeadLetters deadLetters,
      AuditNotes notes,
      Pushes pushes,
      PushQueue pushQueue) {}

  /**
   * The routes over these use cases.
   *
   * @param parallel reads several tenants for one response
   * @param author names who makes the changes; each request sets it
   */
  public static Routes of(
      Ports ports,
      TenantLifecycle lifecycle,
      SessionLifecycle sessionLifecycle,
      TierCatalog catalog,
      Doctor doctor,
      Stores stores,
      ParallelTasks parallel,
      CurrentAuthor author,
      InstantSource clock) {
    Preview preview = new Preview(ports, new LimitReplay(stores.history(), parallel), parallel);
    Idempotency idempotency = new Idempotency(stores.keys(), clock);
    TenantRoutes tenants =
        new TenantRoutes(
            ports,
            lifecycle,
            idempotency,
            preview,
            new TenantDocument(ports, clock),
            parallel,
            clock);
    SessionRoutes sessions =
        new SessionRoutes(
            ports.tenants(), ports.sessions(), sessionLifecycle, stores.notes(), clock);
    DeadLetterRoutes letters =
        new DeadLetterRoutes(ports.tenants(), stores.deadLetters(), stores.notes());
    PushRoutes pushes =
        new PushRoutes(ports.tenants(), stores.pushes(), stores.pushQueue(), idempotency);
    TierRoutes tiers = new TierRoutes(ports, catalog, preview);
    ScheduleRoutes schedules = new ScheduleRoutes(ports, catalog, lifecycle, tiers, tenants, clock);
    HistoryRoutes happened = new HistoryRoutes(stores.history(), ports.tenants(), clock);
    AuditRoutes changes = new AuditRoutes(stores.audit(), clock);
    AlarmRoutes raised = new AlarmRoutes(stores.alarms());
    DoctorRoutes repairs = new DoctorRoutes(doctor);
    AdmitAllRoutes lifting = new AdmitAllRoutes(stores.admitAll(), clock);
    ControlPlaneRoutes routes = new ControlPlaneRoutes(author, clock);
    return Routes.forOperators(
            Map.ofEntries(
                Map.entry("POST /tenants", routes.route(tenants::onboard)),
                Map.entry("GET /tenants", routes.route(tenants::list)),
                Map.entry("GET /tenants/{tenantId}", routes.route(tenants::show)),
                Map.entry("PATCH /tenants/{tenantId}", routes.route(tenants::change)),
                Map.entry("DELETE /tenants/{tenantId}", routes.route(tenants::offboard)),
                Map.entry("DELETE /tenants/{tenantId}/line", routes.route(tenants::clearLine)),
                Map.entry("GET /tenants/{tenantId}/sessions", routes.route(sessions::list)),
                Map.entry(
                    "DELETE /tenants/{tenantId}/sessions/{session}", routes.route(sessions::end)),
                Map.entry("POST /tenants/{tenantId}/push", routes.route(pushes::push)),
                Map.entry("GET /tenants/{tenantId}/dead-letters", routes.route(letters::list)),
                Map.entry(
                    "POST /tenants/{tenantId}/dead-letters/redrive",
                    routes.route(letters::redrive)),
                Map.entry("GET /tenants/{tenantId}/history", routes.route(happened::ofTenant)),
                Map.entry("GET /fleet", routes.route(happened::ofAll)),
                Map.entry("GET /fleet/tenants", routes.route(happened::ranking)),
                Map.entry("GET /audit", routes.route(changes::list)),
                Map.entry("GET /alarms", routes.route(raised::list)),
                Map.entry("GET /activity", routes.route(tenants::showActivity)),
                Map.entry("GET /tiers", routes.route(tiers::list)),
                Map.entry("GET /tiers/{tier}", routes.route(tiers::show)),
                Map.entry("PUT /tiers/{tier}", routes.route(tiers::put)),
                Map.entry("DELETE /tiers/{tier}", routes.route(tiers::remove)),
                Map.entry("POST /tiers/{tier}/schedules", routes.route(schedules::addToTier)),
                Map.entry(
                    "DELETE /tiers/{tier}/schedules/{schedule}",
                    routes.route(schedules::cancelOfTier)),
                Map.entry(
                    "POST /tenants/{tenantId}/schedules", routes.route(schedules::addToTenant)),
                Map.entry(
                    "DELETE /tenants/{tenantId}/schedules/{schedule}",
                    routes.route(schedules::cancelOfTenant)),
                Map.entry("GET /drift", routes.route(repairs::showDrift)),
                Map.entry("POST /repairs", routes.repairing(repairs::repair)),
                Map.entry("GET /admit-all", routes.route(lifting::show)),
                Map.entry("PUT /admit-all", routes.route(lifting::turnOn)),
                Map.entry("DELETE /admit-all", routes.route(lifting::turnOff))))
        .completedBy(lifting::announced);
  }

  private Routes.Route route(Function<ApiRequest, Response> route) {
    return route(route, UnaryOperator.identity());
  }

  private Routes.Route repairing(Function<ApiRequest, Response> route) {
    return route(route, Author::repairing);
  }

  private Routes.Route route(
      Function<ApiRequest, Response> route, UnaryOperator<Author> authorship) {
    return request -> {
      author.set(authorship.apply(Author.of(request.caller(), request.id())));
      return route.apply(new ApiRequest(request, clock));
    };
  }
}
