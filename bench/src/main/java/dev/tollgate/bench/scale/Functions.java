package dev.tollgate.bench.scale;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The functions of an account, which share its concurrent executions. */
final class Functions {
  /** Lambda's default quota. */
  static final int CONCURRENCY = 1_000;

  private static final double GB = 1.0;

  /** What an invocation takes beside its requests: docs/prices.yaml. */
  private static final long OWN_TIME = 3_000;

  private final SimulatedTime time;
  private final Aws aws;
  private final Queue<Long> running = new PriorityQueue<>();
  private final Map<String, Usage> usages = new HashMap<>();
  private int peak;

  /** What a function did. */
  static final class Usage {
    private final Queue<Long> running = new PriorityQueue<>();
    private long throttled;
    private int peak;

    long throttled() {
      return throttled;
    }

    int peak() {
      return peak;
    }
  }

  /**
   * An instance of a function, with its own memory of tenants.
   *
   * @param tenants those whose credentials it has
   * @param shared those whose credentials any instance of its function has
   */
  record Instance<T>(T code, Set<Integer> tenants, Set<Integer> shared) {}

  Functions(SimulatedTime time, Aws aws) {
    this.time = time;
    this.aws = aws;
  }

  /** The most executions at once. */
  int peak() {
    return peak;
  }

  Usage usage(String function) {
    return usages.getOrDefault(function, new Usage());
  }

  /** A function whose instances run {@code code}. */
  <T> Function<T> function(String name, Supplier<T> code) {
    return new Function<>(name, code);
  }

  /** A function of the account. */
  final class Function<T> {
    private final Supplier<T> code;
    private final Usage usage;
    private final Queue<Busy<T>> busy =
        new PriorityQueue<>((one, other) -> Long.compare(one.until, other.until));
    private final Deque<Instance<T>> idle = new ArrayDeque<>();
    private final Set<Integer> shared = new HashSet<>();

    private Function(String name, Supplier<T> code) {
      this.code = code;
      this.usage = usages.computeIfAbsent(name, none -> new Usage());
    }

    Usage usage() {
      return usage;
    }

    /**
     * Runs the function now; returns when it ends, or -1 if Lambda throttles it. The clock does not
     * move.
     */
    long invoke(Consumer<Instance<T>> work) {
      long now = time.now();
      release(running, now);
      release(usage.running, now);
      if (running.size() >= CONCURRENCY) {
        usage.throttled++;
        return -1;
      }
      while (!busy.isEmpty() && busy.element().until <= now) {
        idle.push(busy.remove().instance);
      }
      boolean isNew = idle.isEmpty();
      Instance<T> instance =
          isNew ? new Instance<>(code.get(), new HashSet<>(), shared) : idle.pop();
      long end =
          time.endOf(
              () -> {
                if (isNew) {
                  time.pass(Latency.RESTORE.draw(aws.random()));
                }
                time.pass(OWN_TIME);
                work.accept(instance);
              });
      busy.add(new Busy<>(end, instance));
      running.add(end);
      usage.running.add(end);
      usage.peak = Math.max(usage.peak, usage.running.size());
      peak = Math.max(peak, running.size());
      aws.charge("lambda-invocation", 1);
      aws.charge("lambda-gb-second", GB * (end - now) / SimulatedTime.SECOND);
      return end;
    }

    private void release(Queue<Long> ends, long now) {
      while (!ends.isEmpty() && ends.element() <= now) {
        ends.remove();
      }
    }
  }

  private static final class Busy<T> {
    private final long until;
    private final Instance<T> instance;

    private Busy(long until, Instance<T> instance) {
      this.until = until;
      this.instance = instance;
    }
  }

  /** The names of the functions, in alphabetical order. */
  List<String> names() {
    List<String> names = new ArrayList<>(usages.keySet());
    names.sort(String::compareTo);
    return names;
  }
}
