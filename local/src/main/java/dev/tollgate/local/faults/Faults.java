package dev.tollgate.local.faults;

import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.Invoker;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiPredicate;
import java.util.function.Predicate;

/**
 * The faults of a local cloud: those of a {@link FaultPlan}, and those that a test injects.
 *
 * <p>Whether a planned fault occurs at the n-th occasion for a subject depends only on the seed,
 * the kind, the subject and n. So the faults of one queue are the same in every run and do not
 * depend on other queues.
 */
public final class Faults {
  /** Where precision is a minute: {@code 01:00} is between 01:00:00 and 01:00:59. */
  private static final Duration SCHEDULE_PRECISION = Duration.ofSeconds(59);

  private static final Duration LONGEST_CHANGE = Duration.ofSeconds(20);

  private static final String THROTTLED = "throttled-";
  private static final String LATENCY = "latency-";
  private static final String DISCONNECT = "\"eventType\":\"DISCONNECT\"";

  private final FaultPlan plan;
  private final Map<String, AtomicLong> draws = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();
  private final List<Injection> injected = new CopyOnWriteArrayList<>();
  private volatile BiPredicate<String, String> lostEvents = (function, event) -> false;
  private volatile Duration lateSchedules = Duration.ZERO;
  private volatile boolean paused;

  /** The faults of a plan. */
  public Faults(FaultPlan plan) {
    this.plan = plan;
  }

  /** A fault that was injected; closing it removes it. */
  public final class Injection implements AutoCloseable {
    private final Predicate<Call> calls;
    private final int times;
    private final Fault fault;
    private final AtomicInteger count = new AtomicInteger();

    private Injection(Predicate<Call> calls, int times, Fault fault) {
      this.calls = calls;
      this.times = times;
      this.fault = fault;
    }

    private boolean occurs(Call call) {
      return calls.test(call) && count.getAndUpdate(soFar -> Math.min(soFar + 1, times)) < times;
    }

    /** How many requests have failed because of it. */
    public int count() {
      return count.get();
    }

    @Override
    public void close() {
      injected.remove(this);
    }
  }

  /**
   * Injects a fault.
   *
   * @param calls which requests fail; called by many threads
   * @param times how many of them fail from now on
   */
  public Injection inject(Predicate<Call> calls, int times, Fault fault) {
    Injection one = new Injection(calls, times, fault);
    injected.add(one);
    return one;
  }

  /** The injected fault that a request meets, if any; counts it. */
  Optional<Fault> injected(Call call) {
    return injected.stream().filter(one -> one.occurs(call)).map(one -> one.fault).findFirst();
  }

  /**
   * Loses certain events on their way from API Gateway to a function from now on, without an error.
   * An earlier choice of a test no longer applies.
   *
   * @param events given the ARN of the function and the event, JSON
   */
  public void loseEvents(BiPredicate<String, String> events) {
    lostEvents = events;
  }

  /**
   * Loses events on their way to functions: those that a test chooses, and {@code $disconnect}
   * events by the plan (API Gateway Developer Guide, "Manage connected users and client apps:
   * $connect and $disconnect routes").
   */
  public Invoker before(Invoker functions) {
    return (function, payload) -> {
      String event = new String(payload, StandardCharsets.UTF_8);
      return lostEvents.test(function, event)
              || (event.contains(DISCONNECT) && occurs(FaultKind.DISCONNECT_LOST, function))
          ? CompletableFuture.completedFuture(new InvocationResult.Success(new byte[] {'{', '}'}))
          : functions.start(function, payload);
    };
  }

  /** Fires all schedules this much later from now on, as while EventBridge Scheduler lags. */
  public void delaySchedules(Duration by) {
    lateSchedules = by;
  }

  /**
   * The delays after its next due time at which a schedule fires: one for each event, none if it
   * does not fire.
   */
  public List<Duration> scheduleDelays(String schedule) {
    if (occurs(FaultKind.SCHEDULE_MISSED, schedule)) {
      return List.of();
    }
    Duration delay = scheduleDelay(schedule);
    return occurs(FaultKind.SCHEDULE_TWICE, schedule)
        ? List.of(delay, scheduleDelay(schedule))
        : List.of(delay);
  }

  private Duration scheduleDelay(String schedule) {
    return occurs(FaultKind.SCHEDULE_LATE, schedule)
        ? lateSchedules.plus(part(FaultKind.SCHEDULE_LATE, schedule, SCHEDULE_PRECISION))
        : lateSchedules;
  }

  /**
   * How long a change of a function, an event source mapping or a schedule group takes, this time.
   *
   * @param kind {@link FaultKind#FUNCTION_PENDING}, {@link FaultKind#MAPPING_PENDING} or {@link
   *     FaultKind#SCHEDULE_GROUP_DELETING}
   */
  public Duration changeTime(FaultKind kind, String subject) {
    return occurs(kind, subject) ? part(kind, subject, LONGEST_CHANGE) : Duration.ZERO;
  }

  /** Whether any fault is planned. */
  public boolean arePlanned() {
    return !(plan.odds().isEmpty() && plan.throttled().isEmpty() && plan.latency().isEmpty());
  }

  /** Whether a planned fault occurs for a subject, this time. */
  public boolean occurs(FaultKind kind, String subject) {
    return occurs(kind.key(), subject, plan.odds().getOrDefault(kind, 0.0));
  }

  /** Whether a planned fault occurs for a subject in a minute, for the whole of which it lasts. */
  public boolean occursIn(FaultKind kind, String subject, Instant minute) {
    double odd = plan.odds().getOrDefault(kind, 0.0);
    return odd > 0 && !paused && random(kind.key() + ' ' + subject, minute.getEpochSecond()) < odd;
  }

  /** Whether a service throttles an operation, this time. */
  boolean throttles(String service, String operation) {
    return occurs(THROTTLED + service, operation, plan.throttled().getOrDefault(service, 0.0));
  }

  /** How long a service takes to answer an operation, this time. */
  Duration latency(String service, String operation) {
    Latency latency = plan.latency().get(service);
    return latency == null || paused
        ? Duration.ZERO
        : latency.at(draw(LATENCY + service, operation));
  }

  /** A random part of a time span, for a fault that occurs this time. */
  Duration part(FaultKind kind, String subject, Duration whole) {
    return Duration.ofMillis((long) (draw(kind.key() + "-part", subject) * whole.toMillis()));
  }

  /** Stops planned faults until {@link #resume()}. */
  public void pause() {
    paused = true;
  }

  /** Continues with planned faults. */
  public void resume() {
    paused = false;
  }

  /**
   * How often each planned fault has occurred, by its key; throttling as {@code throttled-} and the
   * service.
   */
  public SortedMap<String, Long> counts() {
    SortedMap<String, Long> sums = new TreeMap<>();
    counts.forEach((kind, count) -> sums.put(kind, count.sum()));
    return sums;
  }

  private boolean occurs(String kind, String subject, double odd) {
    if (odd == 0 || paused || draw(kind, subject) >= odd) {
      return false;
    }
    counts.computeIfAbsent(kind, k -> new LongAdder()).increment();
    return true;
  }

  private double draw(String kind, String subject) {
    String name = kind + ' ' + subject;
    return random(name, draws.computeIfAbsent(name, k -> new AtomicLong()).getAndIncrement());
  }

  private double random(String name, long n) {
    long ofName = new SplittableRandom(plan.seed() ^ name.hashCode()).nextLong();
    return new SplittableRandom(new SplittableRandom(ofName + n).nextLong()).nextDouble();
  }
}
