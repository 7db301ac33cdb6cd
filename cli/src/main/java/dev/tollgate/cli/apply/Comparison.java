package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState.CurrentTenant;
import dev.tollgate.cli.apply.DesiredState.DesiredTenant;
import dev.tollgate.cli.apply.Difference.Resource;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the desired state in a file with the current state of a deployment, without changing
 * either.
 *
 * <p>The control plane decides by a dry run whether a tier differs. So fields that the file omits
 * get the control plane's defaults, and values that the control plane would reject are reported
 * before anything changes.
 */
public final class Comparison {
  /** A dry run shows the consequences of a tenant's change. It costs one request per tenant. */
  private static final int MAX_DRY_RUNS = 200;

  private final Sender api;
  private final YamlFile file;
  private final DesiredState desired;
  private final CurrentState current;
  private final boolean prune;
  private final List<Difference> differences = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private long unchanged;
  private int dryRuns;

  private Comparison(Sender api, YamlFile file, boolean prune) {
    this.api = api;
    this.file = file;
    this.desired = DesiredState.of(file);
    this.prune = prune;
    if (file.errors().any()) {
      addUnknownTiers();
    }
    file.errors().throwIfAny();
    this.current = CurrentState.read(api);
  }

  /** The compared states and their differences. */
  public record Result(DesiredState desired, CurrentState current, Differences differences) {}

  /**
   * Compares a file with a deployment.
   *
   * @param prune whether tiers and tenants that are not in the file are to be removed
   * @throws Failure if the file has errors or a request fails
   */
  public static Result of(Sender api, YamlFile file, boolean prune) {
    return new Comparison(api, file, prune).result();
  }

  private Result result() {
    checkTiersOfTenants(current.tiers().keySet());
    desired.tiers().orElse(new TreeMap<>()).forEach(this::compareTier);
    file.errors().throwIfAny();
    desired.tenants().orElse(new TreeMap<>()).forEach(this::compareTenant);
    file.errors().throwIfAny();
    if (desired.tenants().isPresent()) {
      compareOtherTenants(desired.tenants().get());
    }
    if (desired.tiers().isPresent()) {
      compareOtherTiers(desired.tiers().get());
    }
    return new Result(desired, current, new Differences(differences, unchanged, notes));
  }

  /** Adds errors for unknown tiers to the file's other errors, if the tiers can be read. */
  private void addUnknownTiers() {
    boolean namesOthers =
        desired.tenants().orElse(new TreeMap<>()).values().stream()
            .anyMatch(
                tenant -> !desired.tiers().orElse(new TreeMap<>()).containsKey(tenant.tier()));
    if (!namesOthers) {
      return;
    }
    SortedMap<String, Long> tiers;
    try {
      tiers = CurrentState.readTiers(api);
    } catch (Failure unreadable) {
      // The file's other errors are reported anyway.
      return;
    }
    checkTiersOfTenants(tiers.keySet());
  }

  private void checkTiersOfTenants(Set<String> tiersOfDeployment) {
    SortedMap<String, ObjectNode> inFile = desired.tiers().orElse(new TreeMap<>());
    boolean othersAreRemoved = prune && desired.tiers().isPresent();
    desired
        .tenants()
        .orElse(new TreeMap<>())
        .forEach(
            (id, tenant) -> {
              String path = "tenants." + id + ".tier";
              if (inFile.containsKey(tenant.tier())) {
                return;
              }
              if (!tiersOfDeployment.contains(tenant.tier())) {
                file.addError(path, tenant.tier(), "a tier in the file or in the deployment");
              } else if (othersAreRemoved) {
                file.addError(
                    path, tenant.tier(), "a tier in the file, because --prune removes all others");
              }
            });
  }

  private void compareTier(String name, ObjectNode tier) {
    String path = Paths.tier(name);
    // The dry run also reports tenants; limit=1 keeps this first answer small.
    Response response = api.send("PUT", path + "?dryRun=true&limit=1", Optional.of(tier), Map.of());
    if (response.status() == 400) {
      addErrors("tiers." + name, response);
      return;
    }
    String outcome = response.orThrow().json().path("outcome").asText();
    if (outcome.equals("UNCHANGED")) {
      unchanged++;
      return;
    }
    DryRun dryRun = DryRun.request(api, name, "PUT", path, Optional.of(tier), Map.of());
    noteRetreat(name, path, dryRun);
    boolean isNew = outcome.equals("CREATED");
    differences.add(
        new Difference(
            isNew ? Verb.CREATE : Verb.CHANGE,
            Resource.TIER,
            name,
            dryRun.version(),
            new TreeMap<>(dryRun.changes()),
            isNew ? "" : usedBy(current.tenantsOf(name)),
            dryRun.consequences()));
  }

  /** Notes that a change enforces limits which the tier stopped enforcing by itself. */
  private void noteRetreat(String name, String path, DryRun dryRun) {
    if (dryRun.changes().keySet().stream().anyMatch(field -> field.startsWith(Limits.MODE))) {
      Json.text(api.get(path).orThrow().json(), "retreatedAt")
          .ifPresent(
              at ->
                  notes.add(
                      "Tier %s last stopped enforcing its limits by itself at %s: does this change mend the cause?"
                          .formatted(name, at)));
    }
  }

  private void addErrors(String path, Response response) {
    JsonNode errors = response.problem().document().path("errors");
    for (JsonNode error : errors) {
      file.addError(
          path + "." + error.path("field").asText(),
          error.path("value").asText(),
          error.path("expected").asText());
    }
    if (errors.isEmpty()) {
      file.addError(path, "rejected", response.problem().line());
    }
  }

  private void compareTenant(String id, DesiredTenant tenant) {
    Optional<CurrentTenant> found = Optional.ofNullable(current.tenants().get(id));
    if (found.isEmpty() || found.get().isBeingRemoved()) {
      String wait = found.isEmpty() ? "" : "; possible once its removal is finished";
      add(Verb.CREATE, id, 0, new TreeMap<>(), summary(tenant) + wait, List.of());
      return;
    }
    CurrentTenant before = found.get();
    if (before.matches(tenant)) {
      unchanged++;
      return;
    }
    add(Verb.CHANGE, id, before.version(), changes(before, tenant), "", consequences(id, tenant));
  }

  private void add(
      Verb verb,
      String tenantId,
      long version,
      SortedMap<String, Change> changes,
      String remark,
      List<String> consequences) {
    differences.add(
        new Difference(verb, Resource.TENANT, tenantId, version, changes, remark, consequences));
  }

  private static String summary(DesiredTenant tenant) {
    List<String> facts = new ArrayList<>(List.of("tier " + tenant.tier()));
    tenant.overrides().forEach((limit, value) -> facts.add(limit + "=" + value));
    tenant.status().filter("SUSPENDED"::equals).ifPresent(facts::add);
    return String.join(", ", facts);
  }

  private static SortedMap<String, Change> changes(CurrentTenant before, DesiredTenant after) {
    SortedMap<String, Change> changes = new TreeMap<>();
    changes.put("tier", new Change(before.tier(), after.tier()));
    after.status().ifPresent(to -> changes.put("status", new Change(before.status(), to)));
    for (String name : Limits.OVERRIDES) {
      changes.put(
          "overrides." + name,
          new Change(text(before.overrides().get(name)), text(after.overrides().get(name))));
    }
    changes.values().removeIf(change -> change.from().equals(change.to()));
    return changes;
  }

  private static String text(@Nullable OverrideValue value) {
    return value == null ? Change.NONE : value.toString();
  }

  /** The consequences of a tenant's change; unknown if its tier does not exist yet. */
  private List<String> consequences(String id, DesiredTenant tenant) {
    if (!current.tiers().containsKey(tenant.tier()) || dryRuns >= MAX_DRY_RUNS) {
      return List.of();
    }
    dryRuns++;
    if (dryRuns == MAX_DRY_RUNS) {
      notes.add(
          "The effect on open connections is shown for the first "
              + MAX_DRY_RUNS
              + " tenants only.");
    }
    ObjectNode body = Json.object().put("tier", tenant.tier());
    body.set("overrides", OverrideValue.document(tenant.overrides()));
    tenant.status().ifPresent(status -> body.put("status", status));
    Response response =
        api.send("PATCH", Paths.tenant(id) + "?dryRun=true", Optional.of(body), Map.of());
    if (response.status() == 400) {
      addErrors("tenants." + id, response);
    }
    return response.succeeded()
        ? DryRun.of(id, response).consequences()
        : List.of(response.problem().line());
  }

  private void compareOtherTenants(SortedMap<String, DesiredTenant> inFile) {
    long beingRemoved = 0;
    long others = 0;
    for (Map.Entry<String, CurrentTenant> tenant : current.tenants().entrySet()) {
      if (inFile.containsKey(tenant.getKey())) {
        continue;
      }
      CurrentTenant found = tenant.getValue();
      if (found.isBeingRemoved()) {
        beingRemoved++;
      } else if (prune) {
        String remark = "tier " + found.tier();
        add(Verb.REMOVE, tenant.getKey(), found.version(), new TreeMap<>(), remark, List.of());
      } else {
        others++;
      }
    }
    if (beingRemoved > 0) {
      notes.add(
          counted(beingRemoved, "tenant")
              + (beingRemoved == 1 ? " is" : " are")
              + " being removed.");
    }
    noteIgnored(others, "tenant");
  }

  private void compareOtherTiers(SortedMap<String, ObjectNode> inFile) {
    long others = 0;
    for (Map.Entry<String, Long> tier : current.tiers().entrySet()) {
      String name = tier.getKey();
      if (inFile.containsKey(name)) {
        continue;
      }
      if (!prune) {
        others++;
        continue;
      }
      // If the file declares tenants, all of them use tiers of the file: this was checked above.
      long users = desired.tenants().isPresent() ? 0 : current.tenantsOf(name);
      if (users > 0) {
        notes.add("Tier " + name + " is not in the file but is kept: " + usedBy(users) + ".");
      } else {
        differences.add(
            new Difference(
                Verb.REMOVE, Resource.TIER, name, tier.getValue(), new TreeMap<>(), "", List.of()));
      }
    }
    noteIgnored(others, "tier");
  }

  private void noteIgnored(long others, String kind) {
    if (others > 0) {
      notes.add(
          counted(others, kind)
              + (others == 1 ? " is" : " are")
              + " not in the file and "
              + (others == 1 ? "stays" : "stay")
              + " (--prune would remove "
              + (others == 1 ? "it)." : "them)."));
    }
  }

  private static String usedBy(long count) {
    return "used by " + counted(count, "tenant");
  }

  static String counted(long count, String kind) {
    return String.format(Locale.ROOT, "%,d %s%s", count, kind, count == 1 ? "" : "s");
  }
}
