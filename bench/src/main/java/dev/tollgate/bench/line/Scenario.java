package dev.tollgate.bench.line;

import dev.tollgate.bench.line.Ideal.RateChange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What clients do at one bucket. The bucket is full at the start.
 *
 * @param name the name on the command line and in files
 * @param title the description in the table
 * @param hasLine whether refused clients wait in line
 * @param arrivals the clients in the order of arrival
 * @param change a change of the bucket's rate
 * @param window the time in which used tokens are counted, if demand is permanent; the run ends
 *     with it. Other runs end when everybody is admitted
 */
record Scenario(
    String name,
    String title,
    boolean hasLine,
    List<Arrival> arrivals,
    Optional<RateChange> change,
    Optional<Window> window) {
  /** The rate of all buckets at the start, and their capacity. */
  static final int PER_MINUTE = 30;

  /** The names of all scenarios. */
  static final List<String> NAMES =
      List.of(
          "line-90",
          "no-line-90",
          "line-300",
          "no-shows",
          "impolite",
          "tier-up",
          "tier-down",
          "no-line-300");

  private static final Duration BETWEEN_ARRIVALS = Duration.ofMillis(50);

  /** The same clients stay away in every run. */
  private static final long SEED = 90;

  /**
   * A client's first attempt.
   *
   * @param at when it happens, since the start
   */
  record Arrival(Manners manners, Duration at) {}

  /** A span of time since the start. */
  record Window(Duration from, Duration to) {}

  Scenario {
    arrivals = List.copyOf(arrivals);
  }

  /** The best that is possible. */
  Ideal ideal() {
    return new Ideal(PER_MINUTE, PER_MINUTE, change);
  }

  /** When each client is admitted at best. */
  List<Duration> idealAdmissions() {
    return ideal().admissions(arrivals.stream().map(Arrival::at).toList());
  }

  /** The time limit of a run. */
  Duration timeout() {
    return window
        .map(Window::to)
        .orElseGet(
            () -> {
              List<Duration> admissions = idealAdmissions();
              return admissions.get(admissions.size() - 1).multipliedBy(2).plusSeconds(60);
            });
  }

  /**
   * The scenario of a name.
   *
   * @param quick whether fewer clients wait for a shorter time
   * @throws IllegalArgumentException if there is none of that name
   */
  static Scenario of(String name, boolean quick) {
    int few = quick ? 45 : 90;
    int many = quick ? 75 : 300;
    Duration middle = Duration.ofSeconds(quick ? 15 : 60);
    return switch (name) {
      case "line-90" -> polite(name, "%d clients", true, few);
      case "no-line-90" -> polite(name, "%d clients, without the line", false, few);
      case "line-300" -> polite(name, "%d clients", true, many);
      case "no-line-300" -> polite(name, "%d clients, without the line", false, many);
      case "no-shows" -> noShows(name, Duration.ofSeconds(quick ? 80 : 300));
      case "impolite" ->
          new Scenario(
              name,
              few + " clients, half of them impolite",
              true,
              crowd(few, i -> i % 2 == 0 ? Manners.POLITE : Manners.IMPOLITE),
              Optional.empty(),
              Optional.empty());
      case "tier-up" -> changed(name, few, new RateChange(middle, 2 * PER_MINUTE));
      case "tier-down" -> changed(name, few, new RateChange(middle, PER_MINUTE / 2));
      default ->
          throw new IllegalArgumentException(
              "SCENARIO: %s (expected: one of %s)".formatted(name, String.join(", ", NAMES)));
    };
  }

  private static Scenario polite(String name, String title, boolean hasLine, int count) {
    return new Scenario(
        name,
        title.formatted(count),
        hasLine,
        crowd(count, i -> Manners.POLITE),
        Optional.empty(),
        Optional.empty());
  }

  private static Scenario changed(String name, int count, RateChange change) {
    return new Scenario(
        name,
        "%d clients, %d a minute becomes %d after %d s"
            .formatted(count, PER_MINUTE, change.perMinute(), change.at().toSeconds()),
        true,
        crowd(count, i -> Manners.POLITE),
        Optional.of(change),
        Optional.empty());
  }

  /** A crowd at the start, and then a client each second until the end, twice as many as tokens. */
  private static Scenario noShows(String name, Duration end) {
    Random random = new Random(SEED);
    IntFunction<Manners> manners = i -> random.nextInt(10) < 3 ? Manners.NO_SHOW : Manners.POLITE;
    List<Arrival> arrivals = new ArrayList<>(crowd(2 * PER_MINUTE, manners));
    Duration first = arrivals.get(arrivals.size() - 1).at();
    Stream.iterate(first.plusSeconds(1), at -> at.compareTo(end) < 0, at -> at.plusSeconds(1))
        .forEach(at -> arrivals.add(new Arrival(manners.apply(arrivals.size()), at)));
    return new Scenario(
        name,
        "permanent demand, 30 % no-shows",
        true,
        arrivals,
        Optional.empty(),
        Optional.of(new Window(end.dividedBy(5), end)));
  }

  private static List<Arrival> crowd(int count, IntFunction<Manners> manners) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Arrival(manners.apply(i), BETWEEN_ARRIVALS.multipliedBy(i)))
        .toList();
  }
}
