package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.apply.CurrentState.StandingTenant;
import dev.tollgate.cli.apply.DesiredState.WantedTenant;
import dev.tollgate.cli.apply.Difference.Kind;
import dev.tollgate.cli.apply.Difference.Verb;
import dev.tollgate.cli.command.Tenants;
import dev.tollgate.cli.command.Tiers;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
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
 * Compares what a file wants with what stands; only reads.
 *
 * <p>Whether a tier differs is for the control plane to say, by a dry run: so what the file leaves
 * out has the control plane's defaults, and what it would refuse is known before anything is done.
 */
public final class Comparison {
  /** A dry run for each tenant that changes tells what it means; of so many at most. */
  private static final int MOST_DRY_RUNS = 200;

  private final Sender api;
  private final YamlFile file;
  private final DesiredState wanted;
  private final CurrentState standing;
  private final boolean prune;
  private final List<Difference> differences = new ArrayList<>();
  private final List<String> notes = new ArrayList<>();
  private long asTheyShould;
  private int dryRuns;

  private Comparison(Sender api, YamlFile file, boolean prune) {
    this.api = api;
    this.file = file;
    this.wanted = DesiredState.of(file);
    this.prune = prune;
    if (file.mistakes().any()) {
      addUnknownTiers();
    }
    file.mistakes().orFail();
    this.standing = CurrentState.ask(api);
  }

  /** What a comparison was made of, and what it found. */
  public record Result(DesiredState wanted, CurrentState standing, Differences differences) {}

  /**
   * Compares.
   *
   * @param prune whether what is not in the file is to go
   * @throws Failure if the file wants what cannot be, or something is not told
   */
  public static Result of(Sender api, YamlFile file, boolean prune) {
    return new Comparison(api, file, prune).result();
  }

  private Result result() {
    checkTiersOfTenants(standing.tiers().keySet());
    wanted.tiers().orElse(new TreeMap<>()).forEach(this::compareTier);
    file.mistakes().orFail();
    wanted.tenants().orElse(new TreeMap<>()).forEach(this::compareTenant);
    file.mistakes().orFail();
    if (wanted.tenants().isPresent()) {
      compareOtherTenants(wanted.tenants().get());
    }
    if (wanted.tiers().isPresent()) {
      compareOtherTiers(wanted.tiers().get());
    }
    return new Result(wanted, standing, new Differences(differences, asTheyShould, notes));
  }

  /** Adds them to the other mistakes of the file, if the deployment tells its tiers. */
  private void addUnknownTiers() {
    boolean namesOthers =
        wanted.tenants().orElse(new TreeMap<>()).values().stream()
            .anyMatch(tenant -> !wanted.tiers().orElse(new TreeMap<>()).containsKey(tenant.tier()));
    if (!namesOthers) {
      return;
    }
    SortedMap<String, Long> tiers;
    try {
      tiers = CurrentState.askTiers(api);
    } catch (Failure notTold) {
      // The mistakes of the file are there to be told anyway.
      return;
    }
    checkTiersOfTenants(tiers.keySet());
  }

  private void checkTiersOfTenants(Set<String> tiersOfDeployment) {
    SortedMap<String, ObjectNode> ofFile = wanted.tiers().orElse(new TreeMap<>());
    boolean othersGo = prune && wanted.tiers().isPresent();
    wanted
        .tenants()
        .orElse(new TreeMap<>())
        .forEach(
            (id, tenant) -> {
              String path = "tenants." + id + ".tier";
              if (ofFile.containsKey(tenant.tier())) {
                return;
              }
              if (!tiersOfDeployment.contains(tenant.tier())) {
                file.wrong(path, tenant.tier(), "a tier of the file or of the deployment");
              } else if (othersGo) {
                file.wrong(
                    path, tenant.tier(), "a tier of the file, since --prune removes all others");
              }
            });
  }

  private void compareTier(String name, ObjectNode tier) {
    String path = Tiers.path(name);
    // One tenant of the tier is enough to tell whether it differs.
    Answer answer = api.send("PUT", path + "?dryRun=true&limit=1", Optional.of(tier), Map.of());
    if (answer.status() == 400) {
      refused("tiers." + name, answer);
      return;
    }
    String outcome = answer.orFail().json().path("outcome").asText();
    if (outcome.equals("UNCHANGED")) {
      asTheyShould++;
      return;
    }
    DryRun dryRun = DryRun.ask(api, name, "PUT", path, tier, Map.of());
    boolean isNew = outcome.equals("CREATED");
    differences.add(
        new Difference(
            isNew ? Verb.CREATE : Verb.CHANGE,
            Kind.TIER,
            name,
            dryRun.version(),
            new TreeMap<>(dryRun.changes()),
            isNew ? "" : tenants(standing.tenantsOf(name)) + " it",
            dryRun.consequences()));
  }

  private void refused(String path, Answer answer) {
    JsonNode errors = answer.problem().document().path("errors");
    for (JsonNode error : errors) {
      file.wrong(
          path + "." + error.path("field").asText(),
          error.path("value").asText(),
          error.path("expected").asText());
    }
    if (errors.isEmpty()) {
      file.wrong(path, "refused", answer.problem().line());
    }
  }

  private void compareTenant(String id, WantedTenant tenant) {
    Optional<StandingTenant> found = Optional.ofNullable(standing.tenants().get(id));
    if (found.isEmpty() || found.get().isLeaving()) {
      String gone = found.isEmpty() ? "" : "; it is still being removed, and must be gone first";
      add(Verb.CREATE, id, 0, new TreeMap<>(), summary(tenant) + gone, List.of());
      return;
    }
    StandingTenant stands = found.get();
    if (stands.isAs(tenant)) {
      asTheyShould++;
      return;
    }
    add(Verb.CHANGE, id, stands.version(), changes(stands, tenant), "", consequences(id, tenant));
  }

  private void add(
      Verb verb,
      String tenantId,
      long version,
      SortedMap<String, Change> changes,
      String remark,
      List<String> consequences) {
    differences.add(
        new Difference(verb, Kind.TENANT, tenantId, version, changes, remark, consequences));
  }

  private static String summary(WantedTenant tenant) {
    List<String> facts = new ArrayList<>(List.of("tier " + tenant.tier()));
    tenant.overrides().forEach((limit, value) -> facts.add(limit + "=" + value));
    tenant.status().filter("SUSPENDED"::equals).ifPresent(facts::add);
    return String.join(", ", facts);
  }

  private static SortedMap<String, Change> changes(StandingTenant stands, WantedTenant wanted) {
    SortedMap<String, Change> changes = new TreeMap<>();
    changes.put("tier", new Change(stands.tier(), wanted.tier()));
    wanted.status().ifPresent(to -> changes.put("status", new Change(stands.status(), to)));
    for (String limit : Tiers.LIMITS) {
      changes.put(
          "overrides." + limit,
          new Change(text(stands.overrides().get(limit)), text(wanted.overrides().get(limit))));
    }
    changes.values().removeIf(change -> change.from().equals(change.to()));
    return changes;
  }

  private static String text(@Nullable Long value) {
    return value == null ? Change.NONE : value.toString();
  }

  /** What a tenant's change means; not known where its tier is not there yet, or for too many. */
  private List<String> consequences(String id, WantedTenant tenant) {
    if (!standing.tiers().containsKey(tenant.tier()) || dryRuns >= MOST_DRY_RUNS) {
      return List.of();
    }
    dryRuns++;
    if (dryRuns == MOST_DRY_RUNS) {
      notes.add(
          "What it means for open connections was asked for the first "
              + MOST_DRY_RUNS
              + " tenants only.");
    }
    ObjectNode body = Json.object().put("tier", tenant.tier());
    body.set("overrides", Json.object(tenant.overrides()));
    tenant.status().ifPresent(status -> body.put("status", status));
    Answer answer =
        api.send("PATCH", Tenants.path(id) + "?dryRun=true", Optional.of(body), Map.of());
    if (answer.status() == 400) {
      refused("tenants." + id, answer);
    }
    return answer.succeeded()
        ? DryRun.of(id, answer).consequences()
        : List.of(answer.problem().line());
  }

  private void compareOtherTenants(SortedMap<String, WantedTenant> ofFile) {
    long leaving = 0;
    long others = 0;
    for (Map.Entry<String, StandingTenant> tenant : standing.tenants().entrySet()) {
      if (ofFile.containsKey(tenant.getKey())) {
        continue;
      }
      StandingTenant stands = tenant.getValue();
      if (stands.isLeaving()) {
        leaving++;
      } else if (prune) {
        String remark = "tier " + stands.tier();
        add(Verb.REMOVE, tenant.getKey(), stands.version(), new TreeMap<>(), remark, List.of());
      } else {
        others++;
      }
    }
    if (leaving > 0) {
      notes.add(counted(leaving, "tenant") + (leaving == 1 ? " is" : " are") + " being removed.");
    }
    leftAlone(others, "tenant");
  }

  private void compareOtherTiers(SortedMap<String, ObjectNode> ofFile) {
    long others = 0;
    for (Map.Entry<String, Long> tier : standing.tiers().entrySet()) {
      String name = tier.getKey();
      if (ofFile.containsKey(name)) {
        continue;
      }
      if (!prune) {
        others++;
        continue;
      }
      // With tenants in the file, none keeps such a tier; without, whoever has it is not asked.
      long users = wanted.tenants().isPresent() ? 0 : standing.tenantsOf(name);
      if (users > 0) {
        notes.add("Tier " + name + " is not in the file, but " + tenants(users) + " it; it stays.");
      } else {
        differences.add(
            new Difference(
                Verb.REMOVE, Kind.TIER, name, tier.getValue(), new TreeMap<>(), "", List.of()));
      }
    }
    leftAlone(others, "tier");
  }

  private void leftAlone(long others, String kind) {
    if (others > 0) {
      notes.add(
          counted(others, kind)
              + (others == 1 ? " is" : " are")
              + " not in the file, left alone (--prune removes "
              + (others == 1 ? "it" : "them")
              + ").");
    }
  }

  private static String tenants(long count) {
    return counted(count, "tenant") + (count == 1 ? " has" : " have");
  }

  static String counted(long count, String kind) {
    return String.format(Locale.ROOT, "%,d %s%s", count, kind, count == 1 ? "" : "s");
  }
}
