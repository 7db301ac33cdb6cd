package dev.tollgate.bench.line;

import dev.tollgate.bench.Times;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What the clients of a run experienced. A client was overtaken if somebody was admitted before it
 * who came only after it had been refused. A difference of up to a second between the two
 * admissions is the rounding of the wait to whole seconds.
 *
 * @param clients the number of clients
 * @param refusals all refusals
 * @param leastRefusals the clients for whom there was no token when they came
 * @param mostRefusals the refusals of the client with the most
 * @param failures attempts without an answer
 * @param absent clients that did not leave and were not admitted when the run ended
 * @param lastAdmitted when the last of these clients was admitted; zero if none was
 * @param idealLast when that would have been, at best
 * @param waits from each admitted client's arrival to its admission
 * @param overtaken clients that were overtaken
 */
record Figures(
    int clients,
    int attempts,
    int refusals,
    int leastRefusals,
    int mostRefusals,
    int failures,
    int absent,
    Duration lastAdmitted,
    Duration idealLast,
    Times waits,
    int overtaken) {
  private static final Duration ROUNDING = Duration.ofSeconds(1);

  /** The figures of the clients with some manners. */
  static Figures of(Scenario scenario, List<Attempt> attempts, Predicate<Manners> manners) {
    List<Attempt> counted =
        attempts.stream().filter(attempt -> manners.test(attempt.manners())).toList();
    List<Scenario.Arrival> arrivals = scenario.arrivals();
    List<Integer> clients =
        IntStream.range(0, arrivals.size())
            .filter(client -> manners.test(arrivals.get(client).manners()))
            .boxed()
            .toList();
    List<Duration> ideal = scenario.idealAdmissions();
    Map<Integer, Duration> admitted = admissions(attempts);
    Map<Integer, Integer> refusals = new HashMap<>();
    counted.stream()
        .filter(Attempt::isRefused)
        .forEach(attempt -> refusals.merge(attempt.client(), 1, Integer::sum));
    return new Figures(
        clients.size(),
        counted.size(),
        sum(refusals.values()),
        (int)
            clients.stream()
                .filter(client -> ideal.get(client).compareTo(arrivals.get(client).at()) > 0)
                .count(),
        refusals.values().stream().mapToInt(Integer::intValue).max().orElse(0),
        (int) counted.stream().filter(a -> a.result() == Attempt.Result.FAILED).count(),
        (int)
            clients.stream()
                .filter(client -> arrivals.get(client).manners() != Manners.NO_SHOW)
                .filter(client -> !admitted.containsKey(client))
                .count(),
        latest(
            clients.stream().flatMap(c -> Optional.ofNullable(admitted.get(c)).stream()).toList()),
        latest(clients.stream().map(ideal::get).toList()),
        Times.of(
            clients.stream()
                .filter(admitted::containsKey)
                .map(c -> admitted.getOrDefault(c, Duration.ZERO).minus(arrivals.get(c).at()))
                .toList()),
        overtaken(attempts, admitted, clients));
  }

  /** When each admitted client was admitted. */
  static Map<Integer, Duration> admissions(List<Attempt> attempts) {
    return attempts.stream()
        .filter(Attempt::isAdmitted)
        .collect(
            Collectors.toMap(
                Attempt::client, Attempt::answered, (first, second) -> first, TreeMap::new));
  }

  private static int overtaken(
      List<Attempt> attempts, Map<Integer, Duration> admitted, List<Integer> clients) {
    Map<Integer, Attempt> first =
        attempts.stream()
            .collect(Collectors.toMap(Attempt::client, attempt -> attempt, (a, b) -> a));
    return (int)
        clients.stream()
            .filter(admitted::containsKey)
            .map(first::get)
            .filter(
                waiting ->
                    first.values().stream()
                        .filter(other -> other.sent().compareTo(waiting.answered()) > 0)
                        .filter(other -> admitted.containsKey(other.client()))
                        .anyMatch(other -> isEarlier(admitted, other, waiting)))
            .count();
  }

  private static boolean isEarlier(
      Map<Integer, Duration> admitted, Attempt other, Attempt waiting) {
    Duration earlier = admitted.getOrDefault(other.client(), Duration.ZERO);
    Duration later = admitted.getOrDefault(waiting.client(), Duration.ZERO);
    return later.minus(earlier).compareTo(ROUNDING) >= 0;
  }

  private static int sum(Collection<Integer> numbers) {
    return numbers.stream().mapToInt(Integer::intValue).sum();
  }

  private static Duration latest(List<Duration> times) {
    return times.stream().reduce(Duration.ZERO, (a, b) -> a.compareTo(b) > 0 ? a : b);
  }
}
