package dev.tollgate.controlplane;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import dev.tollgate.controlplane.api.Documents;
import dev.tollgate.controlplane.api.Idempotency;
import dev.tollgate.controlplane.api.Preview;
import dev.tollgate.controlplane.api.TenantReport;
import dev.tollgate.controlplane.doctor.Doctor;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.controlplane.tenants.IfMatch;
import dev.tollgate.controlplane.tenants.TenantChangeResult;
import dev.tollgate.controlplane.tenants.TenantLifecycle;
import dev.tollgate.controlplane.tiers.TierCatalog;
import dev.tollgate.controlplane.tiers.TierChangeResult;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.http.Cursor;
import dev.tollgate.http.IdempotencyKeyHeader;
import dev.tollgate.http.JsonFields;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Request;
import dev.tollgate.http.Response;
import dev.tollgate.http.Routes;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The function behind the control plane's HTTP API: tenants and tiers. */
public final class ControlPlaneApi
    implements RequestHandler<APIGatewayV2HTTPEvent, APIGatewayV2HTTPResponse> {
  /** Nothing is begun when less than this is left: a slow step may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(8);

  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,4}");
  private static final int MOST_LISTED = 100;

  /**
   * The most that are looked at together. Each costs several calls, and its repair a queue that is
   * new and can be used a second later.
   */
  private static final int MOST_EXAMINED = 25;

  private static final String TENANT_IDS = "tenantIds";
  private static final String SEVERAL_IDS =
      "1 to " + MOST_EXAMINED + " ids of tenants, with commas between";
  private static final String TENANT_ID = "the id of the tenant, [a-z0-9][a-z0-9-]{0,35}";
  private static final String TIER = "the name of a tier";
  private static final String ALL_TENANTS = "tenants";
  private static final String DRIFT = "drift";
  private static final String REPAIRS = "repairs";
  private static final String ETAG = "etag";
  private static final String DRY_RUN = "dryRun";

  private final ControlPlane controlPlane;
  private final Idempotency idempotency;
  private final TenantReport report;
  private final Preview preview;
  private final Routes routes;

  /** The API as AWS Lambda makes it. */
  public ControlPlaneApi() {
    this(System.getenv(), InstantSource.system());
  }

  /** An API with these environment variables and this clock. */
  public ControlPlaneApi(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private ControlPlaneApi(Wiring wiring) {
    this(wiring.controlPlane(), wiring.idempotencyKeys());
  }

  ControlPlaneApi(ControlPlane controlPlane, IdempotencyKeys keys) {
    this.controlPlane = controlPlane;
    this.idempotency = new Idempotency(keys, controlPlane.clock());
    this.report = new TenantReport(controlPlane.ports(), controlPlane.clock());
    this.preview = new Preview(controlPlane.ports(), controlPlane.crew());
    this.routes =
        Routes.forOperators(
            Map.ofEntries(
                Map.entry("POST /tenants", this::onboard),
                Map.entry("GET /tenants", this::listTenants),
                Map.entry("GET /tenants/{tenantId}", this::showTenant),
                Map.entry("PATCH /tenants/{tenantId}", this::changeTenant),
                Map.entry("DELETE /tenants/{tenantId}", this::offboard),
                Map.entry("GET /tiers", this::listTiers),
                Map.entry("GET /tiers/{tier}", this::showTier),
                Map.entry("PUT /tiers/{tier}", this::putTier),
                Map.entry("DELETE /tiers/{tier}", this::removeTier),
                Map.entry("GET /activity", this::showActivity),
                Map.entry("GET /drift", this::showDrift),
                Map.entry("POST /repairs", this::repair)));
  }

  Routes routes() {
    return routes;
  }

  @Override
  public APIGatewayV2HTTPResponse handleRequest(APIGatewayV2HTTPEvent event, Context context) {
    return routes.answer(event, context);
  }

  private Response onboard(Request request) {
    noDryRun(request);
    JsonFields body = request.body().only("tenantId", "tier", "overrides");
    TenantId id = new TenantId(body.text("tenantId", TENANT_ID));
    TierName tier = new TierName(body.text("tier", TIER));
    Map<Limit, Long> overrides = Documents.overrides(body).orElse(Map.of());
    return idempotency.once(
        IdempotencyKeyHeader.of(request), request, () -> onboard(id, tier, overrides, request));
  }

  private Response onboard(
      TenantId id, TierName tier, Map<Limit, Long> overrides, Request request) {
    Invocation invocation = invocation(request);
    TenantChangeResult answer = controlPlane.lifecycle().onboard(id, tier, overrides, invocation);
    return answer(answer, id, invocation);
  }

  private Response changeTenant(Request request) {
    TenantId id = tenantId(request);
    boolean dryRun = isDryRun(request);
    IfMatch ifMatch = ifMatch(request);
    JsonFields body = request.body().only("tier", "overrides", "status");
    TenantLifecycle.Change change =
        new TenantLifecycle.Change(
            body.optionalText("tier", TIER).map(TierName::new),
            Documents.overrides(body),
            body.optionalOneOf("status", List.of(TenantStatus.ACTIVE, TenantStatus.SUSPENDED)));
    Invocation invocation = invocation(request);
    TenantLifecycle lifecycle = controlPlane.lifecycle();
    return answer(
        dryRun
            ? lifecycle.plan(id, change, ifMatch)
            : lifecycle.change(id, change, ifMatch, invocation),
        id,
        invocation);
  }

  private Response offboard(Request request) {
    TenantId id = tenantId(request);
    noDryRun(request);
    Invocation invocation = invocation(request);
    TenantChangeResult answer = controlPlane.lifecycle().offboard(id, ifMatch(request), invocation);
    return answer instanceof TenantChangeResult.NoTenant
        ? Response.noContent()
        : answer(answer, id, invocation);
  }

  private Response answer(TenantChangeResult answer, TenantId id, Invocation invocation) {
    if (answer instanceof TenantChangeResult.Onboarded onboarded) {
      return tenant(201, onboarded.tenant(), onboarded.outcome(), invocation)
          .with("location", "/tenants/" + id);
    }
    if (answer instanceof TenantChangeResult.Stands stands) {
      return tenant(200, stands.tenant(), stands.outcome(), invocation);
    }
    if (answer instanceof TenantChangeResult.Leaving leaving) {
      return tenant(202, leaving.tenant(), leaving.outcome(), invocation);
    }
    if (answer instanceof TenantChangeResult.Planned planned) {
      return Response.json(200, preview.of(planned, invocation))
          .with(ETAG, IfMatch.etag(planned.stands().version()));
    }
    if (answer instanceof TenantChangeResult.OtherVersion other) {
      return otherVersion("tenant " + id, other.stands().map(Tenant::version));
    }
    if (answer instanceof TenantChangeResult.StandsOtherwise otherwise) {
      return Problem.conflict("tenant " + id + ": " + otherwise.reason())
          .with("tenant", Documents.of(otherwise.tenant()))
          .response();
    }
    if (answer instanceof TenantChangeResult.NoTier noTier) {
      throw new InvalidValue(
          "tier", noTier.name(), "a tier that exists; `tollgate tiers list` shows them");
    }
    return noTenant(id);
  }

  private Response tenant(
      int status, Tenant tenant, ReconcileOutcome outcome, Invocation invocation) {
    return tenant(status, tenant, outcome instanceof ReconcileOutcome.Settled, invocation);
  }

  private Response tenant(int status, Tenant tenant, boolean settled, Invocation invocation) {
    return Response.json(status, report.of(tenant, settled, invocation))
        .with(ETAG, IfMatch.etag(tenant.version()));
  }

  private static Response otherVersion(String what, Optional<Long> version) {
    String stands = version.map(number -> "version " + number + " stands").orElse("none stands");
    Problem problem = Problem.preconditionFailed(what + ": " + stands);
    return version
        .map(number -> problem.with("version", number).response().with(ETAG, IfMatch.etag(number)))
        .orElseGet(problem::response);
  }

  private Response showTenant(Request request) {
    TenantId id = tenantId(request);
    Invocation invocation = invocation(request);
    return controlPlane
        .ports()
        .tenants()
        .find(id)
        .map(tenant -> tenant(200, tenant, tenant.settled(), invocation))
        .orElseGet(() -> noTenant(id));
  }

  private Response listTenants(Request request) {
    TenantFilter filter = filter(request);
    String listing = listing(filter);
    Page<Tenant> page =
        controlPlane.ports().tenants().search(filter, cursor(listing, request), most(request));
    logUnreadable(page, request);
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("tenants", page.items().stream().map(Documents::of).toList());
    page.next().ifPresent(next -> document.put("next", Cursor.encode(listing, next)));
    return Response.json(200, document);
  }

  /** A listing goes on without the rows that cannot be read. */
  private void logUnreadable(Page<?> page, Request request) {
    Invocation invocation = invocation(request);
    page.unreadable().forEach(newer -> invocation.log(newer.reason()));
  }

  private static TenantFilter filter(Request request) {
    return new TenantFilter(
        request.query("prefix"), request.query("tier").map(TierName::new), is("pending", request));
  }

  /** What a cursor is bound to: no tenant's id and no tier's name holds a character between. */
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

  /** Ids that nobody has are left out, and tenants of whom a row cannot be read. */
  private Response showActivity(Request request) {
    Set<TenantId> ids = tenantIds(request);
    Invocation invocation = invocation(request);
    List<Map<String, Object>> tenants =
        controlPlane.crew().map(ids, id -> activity(id, invocation), invocation).stream()
            .flatMap(Optional::stream)
            .toList();
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("at", controlPlane.clock().instant().toString());
    document.put("tenants", tenants);
    return Response.json(200, document);
  }

  private Optional<Map<String, Object>> activity(TenantId id, Invocation invocation) {
    try {
      return controlPlane.ports().tenants().find(id).map(report::activity);
    } catch (UnreadableRow unreadable) {
      invocation.log("activity of " + id + ": " + unreadable.reason());
      return Optional.empty();
    }
  }

  private static Set<TenantId> tenantIds(Request request) {
    String said = request.query(TENANT_IDS).orElse("");
    String[] ids = said.split(",", -1);
    try {
      Set<TenantId> different =
          Arrays.stream(ids)
              .map(TenantId::new)
              .collect(Collectors.toCollection(LinkedHashSet::new));
      InvalidValue.unless(ids.length <= MOST_EXAMINED, TENANT_IDS, said, SEVERAL_IDS);
      return different;
    } catch (InvalidValue invalid) {
      throw new InvalidValue(TENANT_IDS, said, SEVERAL_IDS);
    }
  }

  private static Optional<String> cursor(String listing, Request request) {
    return request.query("cursor").map(cursor -> Cursor.decode(listing, cursor));
  }

  private static int most(Request request) {
    return most(request, MOST_LISTED);
  }

  private static int most(Request request, int standard) {
    return request.query("limit").map(ControlPlaneApi::limit).orElse(standard);
  }

  /** Refuses a part that there cannot be, in earnest too, where nothing is listed. */
  private static void checkPart(String listing, Request request) {
    var unusedStart = cursor(listing, request);
    var unusedLength = most(request);
  }

  private static int limit(String text) {
    InvalidValue.unless(DIGITS.matcher(text).matches(), "limit", text, "1 to " + MOST_LISTED);
    return (int) InvalidValue.inRange("limit", Long.parseLong(text), 1, MOST_LISTED);
  }

  private Response listTiers(Request request) {
    Page<Tier> tiers = controlPlane.ports().tiers().list();
    logUnreadable(tiers, request);
    return Response.json(200, Map.of("tiers", tiers.items().stream().map(Documents::of).toList()));
  }

  private Response showTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    return controlPlane
        .ports()
        .tiers()
        .find(name)
        .map(tier -> tier(200, tier, Documents.of(tier, controlPlane.catalog().reach(tier))))
        .orElseGet(() -> noTier(name));
  }

  private Response putTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    JsonFields body = request.body();
    Tier tier = Documents.tier(name, body);
    Optional<Long> version = Documents.version(body);
    IfMatch ifMatch = ifMatch(request);
    checkPart(Preview.listing(name), request);
    TierCatalog catalog = controlPlane.catalog();
    return answer(
        isDryRun(request)
            ? catalog.plan(tier, version, ifMatch)
            : catalog.put(tier, version, ifMatch, invocation(request)),
        name,
        request);
  }

  private Response removeTier(Request request) {
    TierName name = new TierName(request.path("tier"));
    IfMatch ifMatch = ifMatch(request);
    TierCatalog catalog = controlPlane.catalog();
    return answer(
        isDryRun(request) ? catalog.planRemoval(name, ifMatch) : catalog.remove(name, ifMatch),
        name,
        request);
  }

  private Response answer(TierChangeResult answer, TierName name, Request request) {
    if (answer instanceof TierChangeResult.Created created) {
      return tier(201, created.tier(), Documents.of(created.tier()))
          .with("location", "/tiers/" + name);
    }
    if (answer instanceof TierChangeResult.Stands stands) {
      return tier(stands.rolledOut() ? 200 : 202, stands.tier(), Documents.of(stands.tier()));
    }
    if (answer instanceof TierChangeResult.Planned planned) {
      Response response =
          Response.json(
              200,
              preview.of(
                  planned,
                  cursor(Preview.listing(name), request),
                  most(request),
                  invocation(request)));
      return planned
          .stands()
          .map(stands -> response.with(ETAG, IfMatch.etag(stands.version())))
          .orElse(response);
    }
    if (answer instanceof TierChangeResult.Removable removable) {
      return tier(200, removable.stands(), preview.of(removable, invocation(request)));
    }
    if (answer instanceof TierChangeResult.OtherVersion other) {
      return otherVersion("tier " + name, other.stands().map(Tier::version));
    }
    if (answer instanceof TierChangeResult.StandsOtherwise otherwise) {
      return Problem.conflict("tier " + name + ": " + otherwise.reason()).response();
    }
    return answer instanceof TierChangeResult.Removed ? Response.noContent() : noTier(name);
  }

  private static Response tier(int status, Tier tier, Map<String, Object> document) {
    return Response.json(status, document).with(ETAG, IfMatch.etag(tier.version()));
  }

  private Response showDrift(Request request) {
    Invocation invocation = invocation(request);
    return walked(
        DRIFT,
        controlPlane
            .doctor()
            .examine(place(DRIFT, request), most(request, MOST_EXAMINED), invocation));
  }

  private Response repair(Request request) {
    noDryRun(request);
    if (request.content().length > 0) {
      request.body().only();
    }
    Invocation invocation = invocation(request);
    return walked(
        REPAIRS,
        controlPlane
            .doctor()
            .repair(place(REPAIRS, request), most(request, MOST_EXAMINED), invocation));
  }

  private static Doctor.Place place(String walk, Request request) {
    return cursor(walk, request).map(Doctor.Place::of).orElse(Doctor.Place.START);
  }

  private static Response walked(String walk, Doctor.Round round) {
    Map<String, Object> document = Documents.of(round);
    round.next().ifPresent(next -> document.put("next", Cursor.encode(walk, next.toString())));
    return Response.json(200, document);
  }

  /** Whether a change is only to be looked at. */
  private static boolean isDryRun(Request request) {
    return is(DRY_RUN, request);
  }

  private static boolean is(String name, Request request) {
    String said = request.query(name).orElse("false");
    InvalidValue.unless(said.equals("true") || said.equals("false"), name, said, "true or false");
    return said.equals("true");
  }

  /** Refuses a request that must not be done in earnest by one who wants to look at it only. */
  private static void noDryRun(Request request) {
    String said = request.query(DRY_RUN).orElse("false");
    InvalidValue.unless(
        said.equals("false"), DRY_RUN, said, "false: this call cannot be looked at first");
  }

  private static IfMatch ifMatch(Request request) {
    return IfMatch.of(request.header("if-match"));
  }

  private Invocation invocation(Request request) {
    return Invocation.of(controlPlane.clock(), request.remaining().minus(MARGIN), request::log);
  }

  private static TenantId tenantId(Request request) {
    return new TenantId(request.path("tenantId"));
  }

  private static Response noTenant(TenantId id) {
    return Problem.notFound("no tenant " + id).response();
  }

  private static Response noTier(TierName name) {
    return Problem.notFound("no tier " + name).response();
  }
}
