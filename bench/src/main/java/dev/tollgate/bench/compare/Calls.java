package dev.tollgate.bench.compare;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.contenders.Limiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The decisions of callers that each ask again as soon as they have an answer.
 *
 * @param ofCallers the decisions of each caller
 * @param failures the calls without a decision
 */
record Calls(List<List<Decision>> ofCallers, int failures) {
  /** Copies the lists. */
  Calls {
    ofCallers = List.copyOf(ofCallers);
  }

  /**
   * The bounds of a measurement: whichever comes first. A call that has begun is finished.
   *
   * @param decisions of each caller
   */
  record Bounds(int decisions, Duration time) {}

  /**
   * Lets callers start at the same time. Caller {@code n} uses limiter {@code n} modulo their
   * number.
   */
  static Calls make(
      Clients clients, int callers, List<Limiter> limiters, Bounds bounds, LongSupplier nanoTime)
      throws InterruptedException {
    CyclicBarrier start = new CyclicBarrier(callers);
    AtomicInteger failures = new AtomicInteger();
    List<Callable<List<Decision>>> tasks =
        IntStream.range(0, callers)
            .mapToObj(
                caller ->
                    (Callable<List<Decision>>)
                        () -> {
                          start.await();
                          return ask(
                              limiters.get(caller % limiters.size()), bounds, failures, nanoTime);
                        })
            .toList();
    return new Calls(clients.run(tasks), failures.get());
  }

  private static List<Decision> ask(
      Limiter limiter, Bounds bounds, AtomicInteger failures, LongSupplier nanoTime) {
    List<Decision> decisions = new ArrayList<>();
    long start = nanoTime.getAsLong();
    long now = start;
    for (int i = 0; i < bounds.decisions() && now - start < bounds.time().toNanos(); i++) {
      long sent = nanoTime.getAsLong();
      try {
        boolean admitted = limiter.tryAcquire();
        now = nanoTime.getAsLong();
        decisions.add(new Decision(sent, now, admitted));
      } catch (RuntimeException e) {
        failures.incrementAndGet();
        now = nanoTime.getAsLong();
      }
    }
    return decisions;
  }

  /** All decisions. */
  List<Decision> decisions() {
    return ofCallers.stream().flatMap(List::stream).toList();
  }

  /**
   * The decisions a second: the sum of what each caller got while it called. So a caller that waits
   * for a slow last answer does not count as a pause of all others.
   */
  double perSecond() {
    return ofCallers.stream()
        .filter(decisions -> !decisions.isEmpty())
        .mapToDouble(
            decisions ->
                decisions.size()
                    * 1e9
                    / Math.max(
                        1,
                        decisions.get(decisions.size() - 1).answeredNanos()
                            - decisions.get(0).sentNanos()))
        .sum();
  }

  /** The time from the first call to the last answer, in seconds. */
  double seconds() {
    List<Decision> all = decisions();
    return all.isEmpty()
        ? 0
        : (all.stream().mapToLong(Decision::answeredNanos).max().getAsLong()
                - all.stream().mapToLong(Decision::sentNanos).min().getAsLong())
            / 1e9;
  }
}
