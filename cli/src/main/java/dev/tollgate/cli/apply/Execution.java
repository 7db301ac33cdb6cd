package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
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
import dev.tollgate.cli.pacing.Throughput;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * Makes the differences go: tiers are created and changed, then tenants, then tenants are removed,
 * and then tiers, since a tier that somebody has cannot be.
 *
 * <p>Each change is meant for the version that was looked at ({@code If-Match}), so a change that
 * somebody else made meanwhile is not undone. The roll-out of a tier moves the versions of its
 * tenants, too; one that says what it said before is therefore looked at anew if its tier was
 * changed here.
 */
public final class Execution {
  private static final int PRECONDITION_FAILED = 412;
  private static final int CONFLICT = 409;
  private static final int NOT_FOUND = 404;
  private static final int ACCEPTED = 202;

  /** A roll-out moves a tenant's version once; others may follow one another. */
  private static final int MOST_LOOKS = 5;

  private static final String OVERTAKEN = "changed by somebody else meanwhile; plan again";

  private final Sender api;
  private final Throughput throughput;
  private final Shell shell;
  private final DesiredState wanted;
  private final CurrentState standing;
  private final Differences differences;

  private final Set<String> changedTiers = ConcurrentHashMap.newKeySet();
  private final Set<String> missingTiers = ConcurrentHashMap.newKeySet();
  private final Set<String> tiersInUse = ConcurrentHashMap.newKeySet();
  private final List<Failed> failures = Collections.synchronizedList(new ArrayList<>());
  private final List<String> notes = Collections.synchronizedList(new ArrayList<>());
  private final Map<Verb, Long> done = Collections.synchronizedMap(new EnumMap<>(Verb.class));
  private final AtomicBoolean stopped = new AtomicBoolean();
  private long leaving;

  public Execution(Sender api, Throughput throughput, Shell shell, Comparison.Result comparison) {
    this.api = api;
    this.throughput = throughput;
    this.shell = shell;
    this.wanted = comparison.wanted();
    this.standing = comparison.standing();
    this.differences = comparison.differences();
    standing.tenants().values().stream()
        .filter(StandingTenant::isLeaving)
        .forEach(tenant -> tiersInUse.add(tenant.tier()));
  }

  /** What has become of one difference. */
  private sealed interface Result {}

  private record Done() implements Result {}

  /** Something that cannot be done yet, for a reason that passes. */
  private record Later(String note) implements Result {}

  private record Refused(String reason) implements Result {}

  /** Something that was not done, and why. */
  public record Failed(Difference difference, String reason) {
    public String line() {
      return difference.what() + ": " + reason;
    }
  }

  /** What has become of the differences. */
  public record Outcome(ObjectNode document, List<String> lines, List<Failed> failures) {}

  /** Does what can be done; what fails does not stop the others. */
  public Outcome run() {
    try (Progress progress = new Progress(shell, "Applying", differences.all().size())) {
      doAll(differences.of(Verb.CREATE, Kind.TIER), this::putTier, progress);
      doAll(differences.of(Verb.CHANGE, Kind.TIER), this::putTier, progress);
      doAll(differences.of(Verb.CREATE, Kind.TENANT), this::onboard, progress);
      doAll(differences.of(Verb.CHANGE, Kind.TENANT), this::change, progress);
      doAll(differences.of(Verb.REMOVE, Kind.TENANT), this::offboard, progress);
      doAll(differences.of(Verb.REMOVE, Kind.TIER), this::removeTier, progress);
    }
    return outcome();
  }

  private Outcome outcome() {
    long notDone =
        differences.all().size() - done.values().stream().mapToLong(Long::longValue).sum();
    List<String> lines = new ArrayList<>(List.of(""));
    lines.add(
        String.format(
            Locale.ROOT,
            "Applied: %,d created, %,d changed, %,d removed%s.",
            count(Verb.CREATE),
            count(Verb.CHANGE),
            count(Verb.REMOVE),
            notDone == 0 ? "" : String.format(Locale.ROOT, "; %,d not done", notDone)));
    if (leaving > 0) {
      notes.add(
          Comparison.counted(leaving, "tenant")
              + (leaving == 1 ? " is" : " are")
              + " still being removed; the control plane goes on.");
    }
    lines.addAll(notes);
    ObjectNode document = differences.document();
    document
        .putObject("applied")
        .put("created", count(Verb.CREATE))
        .put("changed", count(Verb.CHANGE))
        .put("removed", count(Verb.REMOVE));
    notes.forEach(document.withArrayProperty("notes")::add);
    ArrayNode failed = document.putArray("failed");
    failures.forEach(
        failure ->
            failed
                .addObject()
                .put("kind", failure.difference().kind().toString())
                .put("name", failure.difference().name())
                .put("reason", failure.reason()));
    return new Outcome(document, lines, failures);
  }

  private long count(Verb verb) {
    return done.getOrDefault(verb, 0L);
  }

  private void doAll(List<Difference> some, Function<Difference, Result> deed, Progress progress) {
    List<Difference> untouched =
        stopped.get()
            ? some
            : throughput.forEach(
                some,
                difference -> {
                  try {
                    note(difference, deed.apply(difference));
                  } catch (Failure failure) {
                    stopped.set(true);
                    failures.add(new Failed(difference, failure.reason()));
                  }
                  progress.step();
                  return !stopped.get();
                });
    if (!untouched.isEmpty()) {
      notes.add(
          Comparison.counted(untouched.size(), "change")
              + " not begun; apply again: "
              + untouched.get(0).what()
              + (untouched.size() > 1 ? " and others" : ""));
    }
  }

  private void note(Difference difference, Result result) {
    if (result instanceof Refused refused) {
      failures.add(new Failed(difference, refused.reason()));
    } else if (result instanceof Later later) {
      notes.add(later.note());
    } else {
      done.merge(difference.verb(), 1L, Long::sum);
    }
  }

  private Result putTier(Difference difference) {
    String name = difference.name();
    boolean isNew = difference.verb() == Verb.CREATE;
    ObjectNode body = Objects.requireNonNull(wanted.tiers().orElseThrow().get(name)).deepCopy();
    if (isNew) {
      // If-Match cannot say "if there is none"; the document can.
      body.put("version", 0);
    } else {
      changedTiers.add(name);
    }
    Answer answer =
        send("PUT", Tiers.path(name), Optional.of(body), isNew ? Map.of() : ifMatch(difference));
    boolean overtaken =
        answer.status() == PRECONDITION_FAILED || (isNew && answer.status() == CONFLICT);
    if (overtaken) {
      if (isAsWanted(name, body)) {
        return new Done();
      }
      if (isNew) {
        missingTiers.add(name);
      }
      return new Refused(OVERTAKEN);
    }
    if (answer.status() == ACCEPTED) {
      notes.add("Tier " + name + ": its tenants follow within minutes.");
    }
    if (isNew && !answer.succeeded()) {
      missingTiers.add(name);
    }
    return result(answer);
  }

  /** Whether a tier stands so by now; perhaps it was done here, and the answer got lost. */
  private boolean isAsWanted(String name, ObjectNode tier) {
    ObjectNode body = tier.deepCopy();
    body.remove("version");
    return send("PUT", Tiers.path(name) + "?dryRun=true&limit=1", Optional.of(body), Map.of())
        .json()
        .path("outcome")
        .asText()
        .equals("UNCHANGED");
  }

  private Result onboard(Difference difference) {
    WantedTenant tenant = wantedTenant(difference);
    if (missingTiers.contains(tenant.tier())) {
      return new Refused("its tier " + tenant.tier() + " was not created");
    }
    Answer answer =
        send("POST", "/tenants", Optional.of(onboarding(difference.name(), tenant)), Map.of());
    String status = tenant.status().orElse("ACTIVE");
    StandingTenant stands = StandingTenant.of(answer.json());
    if (!answer.succeeded() || stands.status().equals(status)) {
      return result(answer);
    }
    Answer patched =
        send(
            "PATCH",
            Tenants.path(difference.name()),
            Optional.of(Json.object().put("status", status)),
            ifMatch(stands.version()));
    return patched.status() == PRECONDITION_FAILED ? new Refused(OVERTAKEN) : result(patched);
  }

  /** The body that onboards a tenant. */
  public static ObjectNode onboarding(String tenantId, WantedTenant tenant) {
    ObjectNode body = Json.object().put("tenantId", tenantId).put("tier", tenant.tier());
    if (!tenant.overrides().isEmpty()) {
      body.set("overrides", Json.object(tenant.overrides()));
    }
    return body;
  }

  private Result change(Difference difference) {
    WantedTenant tenant = wantedTenant(difference);
    if (missingTiers.contains(tenant.tier())) {
      return new Refused("its tier " + tenant.tier() + " was not created");
    }
    StandingTenant stood = stood(difference);
    ObjectNode body = Json.object();
    if (!tenant.tier().equals(stood.tier())) {
      body.put("tier", tenant.tier());
    }
    if (!tenant.overrides().equals(stood.overrides())) {
      body.set("overrides", Json.object(tenant.overrides()));
    }
    tenant
        .status()
        .filter(status -> !status.equals(stood.status()))
        .ifPresent(status -> body.put("status", status));
    String path = Tenants.path(difference.name());
    return guarded(
        difference,
        version -> send("PATCH", path, Optional.of(body), ifMatch(version)),
        now -> now.filter(stands -> stands.isAs(tenant)).isPresent());
  }

  private Result offboard(Difference difference) {
    String path = Tenants.path(difference.name());
    return guarded(
        difference,
        version -> {
          Answer answer = send("DELETE", path, Optional.empty(), ifMatch(version));
          if (answer.status() == ACCEPTED) {
            isLeaving(difference);
          }
          return answer;
        },
        now -> {
          now.filter(StandingTenant::isLeaving).ifPresent(tenant -> isLeaving(difference));
          return now.map(StandingTenant::isLeaving).orElse(true);
        });
  }

  private synchronized void isLeaving(Difference difference) {
    leaving++;
    tiersInUse.add(stood(difference).tier());
  }

  /**
   * Sends what is meant for one version.
   *
   * @param request sends it for a version
   * @param isDone whether what stands by now is what is wanted, after an answer that got lost
   */
  private Result guarded(
      Difference difference,
      LongFunction<Answer> request,
      Function<Optional<StandingTenant>, Boolean> isDone) {
    StandingTenant stood = stood(difference);
    long version = difference.version();
    for (int look = 0; look < MOST_LOOKS; look++) {
      Answer answer = request.apply(version);
      if (answer.status() != PRECONDITION_FAILED) {
        return result(answer);
      }
      Answer looked = send("GET", Tenants.path(difference.name()), Optional.empty(), Map.of());
      if (!looked.succeeded() && looked.status() != NOT_FOUND) {
        return result(looked);
      }
      Optional<StandingTenant> now =
          Optional.of(looked).filter(Answer::succeeded).map(Answer::json).map(StandingTenant::of);
      if (isDone.apply(now)) {
        return new Done();
      }
      boolean ours =
          changedTiers.contains(stood.tier()) && now.filter(stood::saysTheSameAs).isPresent();
      if (!ours) {
        return new Refused(OVERTAKEN);
      }
      version = now.get().version();
    }
    return new Refused(OVERTAKEN);
  }

  private Result removeTier(Difference difference) {
    String path = Tiers.path(difference.name());
    Answer answer = send("DELETE", path, Optional.empty(), ifMatch(difference));
    if (answer.status() == NOT_FOUND) {
      return new Done();
    }
    if (answer.status() == CONFLICT && tiersInUse.contains(difference.name())) {
      return new Later(
          "Tier "
              + difference.name()
              + " stays until the last of its tenants is gone; apply again then.");
    }
    return answer.status() == PRECONDITION_FAILED ? new Refused(OVERTAKEN) : result(answer);
  }

  private Answer send(
      String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
    Answer answer = api.send(method, path, body, headers);
    // Whoever is not let in once is not let in the next time either.
    if (answer.isNotAllowed()) {
      stopped.set(true);
    }
    return answer;
  }

  private static Result result(Answer answer) {
    return answer.succeeded() ? new Done() : new Refused(answer.problem().line());
  }

  private static Map<String, String> ifMatch(Difference difference) {
    return ifMatch(difference.version());
  }

  private static Map<String, String> ifMatch(long version) {
    return Map.of("If-Match", "\"" + version + "\"");
  }

  private WantedTenant wantedTenant(Difference difference) {
    return Objects.requireNonNull(wanted.tenants().orElseThrow().get(difference.name()));
  }

  private StandingTenant stood(Difference difference) {
    return Objects.requireNonNull(standing.tenants().get(difference.name()));
  }
}
