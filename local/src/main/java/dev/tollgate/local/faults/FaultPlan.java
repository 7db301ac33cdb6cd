package dev.tollgate.local.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * The faults that are to occur, and their probabilities.
 *
 * @param seed determines the faults: with the same seed, the n-th request of a kind to a queue,
 *     table or service always meets the same fault, and resources of the template that do not
 *     depend on each other are created in the same order
 * @param odds the probability of each kind, 0 to 1; 0 for a kind that is missing
 * @param throttled the probability that a service throttles a request
 * @param latency the time that services take to answer; none for a service that is missing
 */
public record FaultPlan(
    long seed,
    Map<FaultKind, Double> odds,
    Map<String, Double> throttled,
    Map<String, Latency> latency) {
  /** The services that requests go to, as their signatures name them. */
  public static final Set<String> SERVICES =
      Set.of("dynamodb", "execute-api", "lambda", "scheduler", "sqs", "sts");

  private static final Set<String> MEMBERS = Set.of("seed", "faults", "throttled", "latency");
  private static final String TAIL = "tail";

  /** Validates the probabilities and the services. */
  public FaultPlan {
    odds = Map.copyOf(odds);
    throttled = Map.copyOf(throttled);
    latency = Map.copyOf(latency);
    odds.forEach((kind, odd) -> requireProbability(kind.key(), odd));
    throttled.forEach(FaultPlan::requireProbability);
    throttled.keySet().forEach(service -> requireKnown("throttled", service, SERVICES));
    latency.keySet().forEach(service -> requireKnown("latency", service, SERVICES));
  }

  /** No faults. */
  public static FaultPlan none() {
    return new FaultPlan(0, Map.of(), Map.of(), Map.of());
  }

  /**
   * Reads a plan from a YAML file.
   *
   * @throws IllegalArgumentException if something in it is unknown or out of its range; the message
   *     names it and the place
   */
  public static FaultPlan read(Path file) throws IOException {
    LoadSettings settings = LoadSettings.builder().setLabel(file.toString()).build();
    try {
      return of(map("plan", new Load(settings).loadFromString(Files.readString(file))));
    } catch (YamlEngineException | IllegalArgumentException e) {
      throw new IllegalArgumentException(file + ": " + e.getMessage(), e);
    }
  }

  private static FaultPlan of(Map<String, Object> plan) {
    plan.keySet().forEach(name -> requireKnown("plan", name, MEMBERS));
    return new FaultPlan(
        (long) number("seed", plan.getOrDefault("seed", 0)),
        entries(plan, "faults", FaultPlan::kind, FaultPlan::number),
        entries(plan, "throttled", service -> service, FaultPlan::number),
        entries(plan, "latency", service -> service, FaultPlan::latency));
  }

  private static <K, V> Map<K, V> entries(
      Map<String, Object> plan,
      String member,
      Function<String, K> key,
      BiFunction<String, Object, V> value) {
    Map<K, V> entries = new HashMap<>();
    map(member, plan.getOrDefault(member, Map.of()))
        .forEach((name, of) -> entries.put(key.apply(name), value.apply(member + "." + name, of)));
    return entries;
  }

  private static FaultKind kind(String name) {
    List<FaultKind> kinds = List.of(FaultKind.values());
    return kinds.stream()
        .filter(kind -> kind.key().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                expected(
                    "faults",
                    name,
                    "one of "
                        + kinds.stream().map(FaultKind::key).collect(Collectors.joining(", "))));
  }

  private static Latency latency(String place, Object times) {
    if (TAIL.equals(times)) {
      return Latency.TAIL;
    }
    if (!(times instanceof List<?> pairs)) {
      throw expected(place, times, "tail, or a list of [quantile, milliseconds]");
    }
    List<Latency.Point> points = new ArrayList<>();
    for (Object pair : pairs) {
      if (!(pair instanceof List<?> point && point.size() == 2)) {
        throw expected(place, pair, "[quantile, milliseconds]");
      }
      points.add(new Latency.Point(number(place, point.get(0)), number(place, point.get(1))));
    }
    return new Latency(points);
  }

  private static void requireProbability(String name, double odd) {
    if (!(odd >= 0 && odd <= 1)) {
      throw expected(name, odd, "a probability from 0 to 1");
    }
  }

  private static void requireKnown(String place, String name, Set<String> all) {
    if (!all.contains(name)) {
      throw expected(place, name, "one of " + all.stream().sorted().toList());
    }
  }

  private static double number(String place, Object value) {
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    throw expected(place, value, "a number");
  }

  private static Map<String, Object> map(String place, Object value) {
    if (!(value instanceof Map<?, ?> map)) {
      throw expected(place, value, "names with values");
    }
    Map<String, Object> texts = new TreeMap<>();
    map.forEach((name, of) -> texts.put(String.valueOf(name), of));
    return texts;
  }

  private static IllegalArgumentException expected(String place, Object value, String what) {
    return new IllegalArgumentException(place + ": " + value + " (expected: " + what + ")");
  }
}
