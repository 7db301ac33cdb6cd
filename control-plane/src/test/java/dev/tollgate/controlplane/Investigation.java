package dev.tollgate.controlplane;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * The steps of "Find what went wrong in a day" in {@code docs/how-to/see-what-happened.md}: finds
 * incidents from the answers of the control plane alone.
 */
final class Investigation {
  /** Three minutes with more refusals of one reason are an incident. */
  private static final long MANY = 10;

  private static final int LEAST = 3;

  /** The neighbouring minutes with more refusals of the reason belong to the incident. */
  private static final long SOME = 2;

  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration WINDOW = Duration.ofMinutes(15);

  private final ControlPlaneFixture api;

  Investigation(ControlPlaneFixture api) {
    this.api = api;
  }

  /**
   * An incident.
   *
   * @param who a tenant, a tier, or the fleet
   * @param first the first minute
   * @param last the last minute
   */
  record Finding(String who, Instant first, Instant last, String why) {}

  /** A run of minutes. */
  private record Run(Instant first, Instant last) {
    boolean covers(Run other) {
      return !other.first.isBefore(first) && !other.last.isAfter(last.plus(MINUTE));
    }
  }

  /** All incidents of a day. */
  List<Finding> findings(Instant day) {
    List<JsonNode> fleet = steps("/fleet", day, day.plus(Duration.ofDays(1)), "1m");
    List<Finding> findings = new ArrayList<>();
    List<Run> stops = runs(fleet, step -> step.path("admitted").asLong() > 0 && minted(step) == 0);
    stops.forEach(
        stop -> findings.add(new Finding("fleet", stop.first, stop.last, "no tokens minted")));
    for (String why : reasons(fleet)) {
      for (Run run : surges(fleet, why)) {
        finding(run, why)
            .filter(
                found ->
                    !found.who().equals("fleet") || stops.stream().noneMatch(s -> s.covers(run)))
            .ifPresent(findings::add);
      }
    }
    return findings;
  }

  List<JsonNode> fleetByHour(Instant day) {
    return steps("/fleet", day, day.plus(Duration.ofDays(1)), "1h");
  }

  /** Who was refused in a run: one tenant, the tenants of one tier, or tenants of all tiers. */
  private Optional<Finding> finding(Run run, String why) {
    List<JsonNode> ranked = ranking(run).stream().filter(row -> refused(row, why) > 0).toList();
    long all = ranked.stream().mapToLong(row -> refused(row, why)).sum();
    String most = ranked.get(0).path("tenantId").asText();
    if (refused(ranked.get(0), why) * 2 > all) {
      List<JsonNode> minutes =
          steps(
              "/tenants/" + most + "/history",
              run.first.minus(WINDOW),
              run.last.plus(WINDOW),
              "1m");
      return surges(minutes, why).stream()
          .findFirst()
          .map(own -> new Finding(most, own.first, own.last, why));
    }
    Set<String> tiers =
        ranked.stream()
            .map(row -> api.get(row.path("tenantId").asText()).document().path("tier").asText())
            .collect(Collectors.toSet());
    return Optional.of(
        new Finding(
            tiers.size() == 1 ? "tier " + tiers.iterator().next() : "fleet",
            run.first,
            run.last,
            why));
  }

  private List<JsonNode> ranking(Run run) {
    Instant end = run.first.plus(WINDOW);
    Instant to = end.isAfter(run.last) ? run.last.plus(MINUTE) : end;
    return list(
        api.history(
                "/fleet/tenants",
                Map.of(
                    "to",
                    to.toString(),
                    "window",
                    Duration.between(run.first, to).toMinutes() + "m",
                    "limit",
                    "100"))
            .document()
            .path("tenants"));
  }

  private List<JsonNode> steps(String path, Instant from, Instant to, String step) {
    return list(
        api.history(path, Map.of("from", from.toString(), "to", to.toString(), "step", step))
            .document()
            .path("steps"));
  }

  private static List<JsonNode> list(JsonNode array) {
    return array.valueStream().toList();
  }

  /** The incidents that refusals for a reason show. */
  private static List<Run> surges(List<JsonNode> minutes, String why) {
    List<Run> peaks = runs(minutes, step -> refused(step, why) > MANY);
    return runs(minutes, step -> refused(step, why) > SOME).stream()
        .filter(run -> peaks.stream().anyMatch(run::covers))
        .toList();
  }

  /** The runs of at least three minutes that all match. */
  private static List<Run> runs(List<JsonNode> minutes, Predicate<JsonNode> matches) {
    Map<Instant, Run> byLast = new TreeMap<>();
    for (JsonNode minute : minutes) {
      if (matches.test(minute)) {
        Instant at = Instant.parse(minute.path("at").asText());
        Optional<Run> before = Optional.ofNullable(byLast.remove(at.minus(MINUTE)));
        byLast.put(at, new Run(before.map(Run::first).orElse(at), at));
      }
    }
    return byLast.values().stream()
        .filter(run -> !run.first.plus(MINUTE.multipliedBy(LEAST - 1)).isAfter(run.last))
        .toList();
  }

  private static Set<String> reasons(List<JsonNode> steps) {
    Set<String> reasons = new TreeSet<>();
    steps.forEach(step -> step.path("refusedFor").fieldNames().forEachRemaining(reasons::add));
    return reasons;
  }

  private static long refused(JsonNode step, String why) {
    return step.path("refusedFor").path(why).asLong();
  }

  private static long minted(JsonNode step) {
    return step.path("tokens").valueStream().mapToLong(each -> each.path("minted").asLong()).sum();
  }
}
