package dev.tollgate.bench.contenders;

import java.util.Map;
import java.util.TreeMap;

/**
 * The requests that passed a relay, and what passing them cost.
 *
 * @param requests the number of requests of each operation
 * @param cpuNanos the processor time of the relay's threads
 */
public record Wire(Map<String, Long> requests, long cpuNanos) {
  /** No requests. */
  public static final Wire NONE = new Wire(Map.of(), 0);

  /** Copies the map. */
  public Wire {
    requests = Map.copyOf(requests);
  }

  /** All requests. */
  public long total() {
    return requests.values().stream().mapToLong(Long::longValue).sum();
  }

  /** What passed since an earlier moment. */
  public Wire since(Wire earlier) {
    Map<String, Long> added = new TreeMap<>(requests);
    earlier.requests.forEach((operation, count) -> added.merge(operation, -count, Long::sum));
    added.values().removeIf(count -> count == 0);
    return new Wire(added, cpuNanos - earlier.cpuNanos);
  }

  /** The sum of both. */
  public Wire plus(Wire other) {
    Map<String, Long> sum = new TreeMap<>(requests);
    other.requests.forEach((operation, count) -> sum.merge(operation, count, Long::sum));
    return new Wire(sum, cpuNanos + other.cpuNanos);
  }
}
