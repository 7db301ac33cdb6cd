package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState.CurrentTenant;
import dev.tollgate.cli.apply.DesiredState.DesiredTenant;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.function.Predicate;

/**
 * Sends the requests that apply differences, one method for each kind of change. Methods may run in
 * several threads at a time.
 *
 * <p>Each request names the version that the comparison read ({@code If-Match}), so it cannot undo
 * a change that someone else made since. The roll-out of a tier also increments the versions of its
 * tenants. If this run changed the tier, a tenant with a new version but the same settings is
 * therefore read again and the request is repeated.
 */
final class ChangeRequests {
  private static final int PRECONDITION_FAILED = 412;
  private static final int CONFLICT = 409;
  private static final int NOT_FOUND = 404;
  private static final int ACCEPTED = 202;

  /** A roll-out increments a tenant's version once, but several roll-outs may follow each other. */
  private static final int MAX_ATTEMPTS = 5;

  private static final Result APPLIED = new Applied(Optional.empty());

  private static final Result CHANGED_BY_SOMEONE_ELSE =
      new Rejected("conflict: changed by someone else since the plan; run `tollgate plan` again");

  private final Sender api;
  private final DesiredState desired;
  private final CurrentState current;

  private final Set<String> changedTiers = ConcurrentHashMap.newKeySet();
  private final Set<String> missingTiers = ConcurrentHashMap.newKeySet();
  private final Set<String> tiersOfTenantsBeingRemoved = ConcurrentHashMap.newKeySet();
  private final AtomicLong tenantsBeingRemoved = new AtomicLong();
  private final AtomicBoolean accessDenied = new AtomicBoolean();

  ChangeRequests(Sender api, Comparison.Result comparison) {
    this.api = api;
    this.desired = comparison.desired();
    this.current = comparison.current();
    current.tenants().values().stream()
        .filter(CurrentTenant::isBeingRemoved)
        .forEach(tenant -> tiersOfTenantsBeingRemoved.add(tenant.tier()));
  }

  /** The result of applying one difference. */
  sealed interface Result {}

  /**
   * The change was made.
   *
   * @param note what still has to happen, if anything
   */
  record Applied(Optional<String> note) implements Result {}

  /** The change cannot be made yet, for a reason that passes. */
  record Deferred(String note) implements Result {}

  /** The change was not made. */
  record Rejected(String reason) implements Result {}

  /** Whether the control plane denied access, in which case it denies every further request. */
  boolean isAccessDenied() {
    return accessDenied.get();
  }

  /** The number of tenants whose removal started in this run and has not finished. */
  long tenantsBeingRemoved() {
    return tenantsBeingRemoved.get();
  }

  Result putTier(Difference difference) {
    String name = difference.name();
    boolean isNew = difference.verb() == Verb.CREATE;
    ObjectNode body = Objects.requireNonNull(desired.tiers().orElseThrow().get(name)).deepCopy();
    if (isNew) {
      // If-Match cannot express "only if there is none"; version 0 in the document does.
      body.put("version", 0);
    } else {
      changedTiers.add(name);
    }
    Response response =
        send(
            "PUT",
            Paths.tier(name),
            Optional.of(body),
            isNew ? Map.of() : ifMatch(difference.version()));
    boolean conflicts =
        response.status() == PRECONDITION_FAILED || (isNew && response.status() == CONFLICT);
    if (conflicts) {
      if (isAsDesired(name, body)) {
        return APPLIED;
      }
      if (isNew) {
        missingTiers.add(name);
      }
      return CHANGED_BY_SOMEONE_ELSE;
    }
    if (isNew && !response.succeeded()) {
      missingTiers.add(name);
    }
    return response.status() == ACCEPTED
        ? new Applied(
            Optional.of("Tier " + name + ": the change reaches its tenants within minutes."))
        : result(response);
  }

  /** Whether a tier has the desired settings: this run may have set them and lost the response. */
  private boolean isAsDesired(String name, ObjectNode tier) {
    ObjectNode body = tier.deepCopy();
    body.remove("version");
    return send("PUT", Paths.tier(name) + "?dryRun=true&limit=1", Optional.of(body), Map.of())
        .json()
        .path("outcome")
        .asText()
        .equals("UNCHANGED");
  }

  Result onboard(Difference difference) {
    DesiredTenant tenant = desiredTenant(difference);
    if (missingTiers.contains(tenant.tier())) {
      return tierWasNotCreated(tenant);
    }
    ObjectNode body = tenant.onboardingRequest(difference.name());
    Response response = send("POST", "/tenants", Optional.of(body), Map.of());
    String status = tenant.status().orElse("ACTIVE");
    CurrentTenant onboarded = CurrentTenant.of(response.json());
    if (!response.succeeded() || onboarded.status().equals(status)) {
      return result(response);
    }
    Response patched =
        send(
            "PATCH",
            Paths.tenant(difference.name()),
            Optional.of(Json.object().put("status", status)),
            ifMatch(onboarded.version()));
    return patched.status() == PRECONDITION_FAILED ? CHANGED_BY_SOMEONE_ELSE : result(patched);
  }

  private static Result tierWasNotCreated(DesiredTenant tenant) {
    return new Rejected("tier " + tenant.tier() + " was not created");
  }

  Result changeTenant(Difference difference) {
    DesiredTenant tenant = desiredTenant(difference);
    if (missingTiers.contains(tenant.tier())) {
      return tierWasNotCreated(tenant);
    }
    CurrentTenant before = currentTenant(difference);
    ObjectNode body = Json.object();
    if (!tenant.tier().equals(before.tier())) {
      body.put("tier", tenant.tier());
    }
    if (!tenant.overrides().equals(before.overrides())) {
      body.set("overrides", OverrideValue.document(tenant.overrides()));
    }
    tenant
        .status()
        .filter(status -> !status.equals(before.status()))
        .ifPresent(status -> body.put("status", status));
    String path = Paths.tenant(difference.name());
    return sendForVersion(
        difference,
        version -> send("PATCH", path, Optional.of(body), ifMatch(version)),
        now -> now.filter(found -> found.matches(tenant)).isPresent());
  }

  Result offboard(Difference difference) {
    String path = Paths.tenant(difference.name());
    return sendForVersion(
        difference,
        version -> {
          Response response = send("DELETE", path, Optional.empty(), ifMatch(version));
          if (response.status() == ACCEPTED) {
            noteRemoval(difference);
          }
          return response;
        },
        now -> {
          now.filter(CurrentTenant::isBeingRemoved).ifPresent(tenant -> noteRemoval(difference));
          return now.map(CurrentTenant::isBeingRemoved).orElse(true);
        });
  }

  private void noteRemoval(Difference difference) {
    tenantsBeingRemoved.incrementAndGet();
    tiersOfTenantsBeingRemoved.add(currentTenant(difference).tier());
  }

  /**
   * Sends a request for the version of a tenant that the comparison read, and for a newer one if
   * only a roll-out of this run changed it.
   *
   * @param request sends the request for a version
   * @param isDone whether the tenant is as desired now, which it is if an earlier response was lost
   */
  private Result sendForVersion(
      Difference difference,
      LongFunction<Response> request,
      Predicate<Optional<CurrentTenant>> isDone) {
    CurrentTenant before = currentTenant(difference);
    long version = difference.version();
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      Response response = request.apply(version);
      if (response.status() != PRECONDITION_FAILED) {
        return result(response);
      }
      Response read = send("GET", Paths.tenant(difference.name()), Optional.empty(), Map.of());
      if (!read.succeeded() && read.status() != NOT_FOUND) {
        return result(read);
      }
      Optional<CurrentTenant> now =
          Optional.of(read).filter(Response::succeeded).map(Response::json).map(CurrentTenant::of);
      if (isDone.test(now)) {
        return APPLIED;
      }
      boolean onlyRolledOut =
          changedTiers.contains(before.tier()) && now.filter(before::hasSameSettingsAs).isPresent();
      if (!onlyRolledOut) {
        return CHANGED_BY_SOMEONE_ELSE;
      }
      version = now.get().version();
    }
    return CHANGED_BY_SOMEONE_ELSE;
  }

  Result removeTier(Difference difference) {
    String path = Paths.tier(difference.name());
    Response response = send("DELETE", path, Optional.empty(), ifMatch(difference.version()));
    if (response.status() == NOT_FOUND) {
      return APPLIED;
    }
    if (response.status() == CONFLICT && tiersOfTenantsBeingRemoved.contains(difference.name())) {
      return new Deferred(
          "Tier "
              + difference.name()
              + " cannot be removed while its tenants are being removed. Run the command again"
              + " later.");
    }
    return response.status() == PRECONDITION_FAILED ? CHANGED_BY_SOMEONE_ELSE : result(response);
  }

  private Response send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    Response response = api.send(method, path, body, headers);
    if (response.isAccessDenied()) {
      accessDenied.set(true);
    }
    return response;
  }

  private static Result result(Response response) {
    return response.succeeded() ? APPLIED : new Rejected(response.problem().line());
  }

  private static Map<String, String> ifMatch(long version) {
    return Map.of("If-Match", "\"" + version + "\"");
  }

  private DesiredTenant desiredTenant(Difference difference) {
    return Objects.requireNonNull(desired.tenants().orElseThrow().get(difference.name()));
  }

  private CurrentTenant currentTenant(Difference difference) {
    return Objects.requireNonNull(current.tenants().get(difference.name()));
  }
}
