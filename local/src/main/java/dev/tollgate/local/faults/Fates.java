package dev.tollgate.local.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Who is struck by what, by a plan.
 *
 * <p>The n-th time that a misfortune could strike a subject its fate depends on the seed, the
 * misfortune, the subject and n alone. So what happens on one queue is the same in every run,
 * whatever happens at the same time on others.
 */
public final class Fates {
  private static final String THROTTLED = "throttled-";
  private static final String LATENCY = "latency-";

  private final FaultPlan plan;
  private final Map<String, AtomicLong> draws = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> strikes = new ConcurrentHashMap<>();
  private volatile boolean calm;

  /** The fates of a plan. */
  public Fates(FaultPlan plan) {
    this.plan = plan;
  }

  /** Whether nothing is ever to go wrong. */
  public boolean areKind() {
    return plan.odds().isEmpty() && plan.throttled().isEmpty() && plan.latency().isEmpty();
  }

  /** Whether a misfortune strikes a subject, this time. */
  public boolean strikes(Misfortune misfortune, String subject) {
    return strikes(misfortune.key(), subject, plan.odds().getOrDefault(misfortune, 0.0));
  }

  /** Whether a service answers that it is asked too much, this time. */
  public boolean throttles(String service, String subject) {
    return strikes(THROTTLED + service, subject, plan.throttled().getOrDefault(service, 0.0));
  }

  /** How long a service takes to answer, this time. */
  public Duration latency(String service, String subject) {
    Latency latency = plan.latency().get(service);
    return latency == null || calm ? Duration.ZERO : latency.at(draw(LATENCY + service, subject));
  }

  /**
   * Part of a span that a misfortune takes, this time.
   *
   * @return from 0 to the whole of it
   */
  public Duration part(Misfortune misfortune, String subject, Duration whole) {
    return Duration.ofMillis((long) (draw(misfortune.key() + "-part", subject) * whole.toMillis()));
  }

  /** Nothing goes wrong from now on, until {@link #resume()}. */
  public void calm() {
    calm = true;
  }

  /** The plan goes on. */
  public void resume() {
    calm = false;
  }

  /** How often each misfortune has struck; throttling as {@code throttled-} and the service. */
  public SortedMap<String, Long> struck() {
    SortedMap<String, Long> struck = new TreeMap<>();
    strikes.forEach((kind, times) -> struck.put(kind, times.sum()));
    return struck;
  }

  /** Whether a misfortune has struck a subject in a minute, for the whole of which it holds. */
  public boolean strikesIn(Misfortune misfortune, String subject, Instant minute) {
    double odd = plan.odds().getOrDefault(misfortune, 0.0);
    return odd > 0
        && !calm
        && random(misfortune.key() + ' ' + subject, minute.getEpochSecond()) < odd;
  }

  private boolean strikes(String kind, String subject, double odd) {
    if (odd == 0 || calm || draw(kind, subject) >= odd) {
      return false;
    }
    strikes.computeIfAbsent(kind, k -> new LongAdder()).increment();
    return true;
  }

  private double draw(String kind, String subject) {
    String name = kind + ' ' + subject;
    long n = draws.computeIfAbsent(name, k -> new AtomicLong()).getAndIncrement();
    return random(name, n);
  }

  private double random(String name, long n) {
    long ofName = new SplittableRandom(plan.seed() ^ name.hashCode()).nextLong();
    return new SplittableRandom(new SplittableRandom(ofName + n).nextLong()).nextDouble();
  }
}
