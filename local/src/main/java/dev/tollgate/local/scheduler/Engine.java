package dev.tollgate.local.scheduler;

import dev.tollgate.local.template.Environment;
import dev.tollgate.local.threads.DaemonThreads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Fires the schedules that are due.
 *
 * <p>Every schedule has a lane: its next due time and its pending retries. When a lane is due, one
 * thread executes its attempts, in order of due time, until none is due. So the events of one
 * schedule are delivered one at a time and in order, and schedules run in parallel. After every
 * attempt a lane goes to the end of the workers' queue, so that schedules with many due events take
 * turns.
 */
final class Engine implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Engine.class);
  private static final long POLL_MILLIS = 100;
  private static final long CLOSE_SECONDS = 5;
  private static final int WORKERS = 32;

  private final InstantSource clock;
  private final Environment environment;
  private final Targets targets;
  private final Function<String, List<Duration>> delays;
  private final Consumer<Schedule> completed;
  private final ExecutorService workers =
      Executors.newFixedThreadPool(WORKERS, new DaemonThreads("scheduler"));
  private final ScheduledExecutorService poll =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("scheduler-poll"));

  private final Map<Schedule.Key, Lane> lanes = new HashMap<>();
  private int working;
  private boolean closed;

  /**
   * @param completed receives each schedule that will not fire again and is to be deleted after
   *     completion
   */
  Engine(
      Environment environment,
      Targets targets,
      Function<String, List<Duration>> delays,
      Consumer<Schedule> completed) {
    this.clock = environment.clock();
    this.delays = delays;
    this.environment = environment;
    this.targets = targets;
    this.completed = completed;
  }

  void start() {
    var unused =
        poll.scheduleWithFixedDelay(
            this::dispatch, POLL_MILLIS, POLL_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Adds or changes a schedule at {@code now}. */
  synchronized void put(Schedule schedule, Instant now) {
    Lane lane = lanes.get(schedule.key());
    if (lane == null) {
      lanes.put(schedule.key(), new Lane(schedule, timing -> timing.first(now)));
    } else {
      lane.change(schedule, now);
    }
  }

  /** Adds a schedule of an earlier run. Events that were due before {@code now} are skipped. */
  synchronized void resume(Schedule schedule, Instant now) {
    lanes.put(schedule.key(), new Lane(schedule, timing -> timing.next(now)));
  }

  /** Removes a schedule and its retries. An attempt under way continues. */
  synchronized void remove(Schedule.Key key) {
    Lane lane = lanes.remove(key);
    if (lane != null) {
      lane.drop();
    }
  }

  /**
   * Waits until all events that are due at the clock's instant are delivered, given up, or wait for
   * a later retry.
   */
  synchronized void settle() throws InterruptedException {
    dispatch();
    while (working > 0 && !closed) {
      wait();
      dispatch();
    }
  }

  /** Stops. Attempts under way have five seconds to end. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    poll.shutdownNow();
    workers.shutdown();
    try {
      if (!workers.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
        workers.shutdownNow();
      }
    } catch (InterruptedException e) {
      workers.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void dispatch() {
    Instant now = clock.instant();
    lanes.values().stream()
        .filter(lane -> !closed && !lane.working && lane.isDue(now))
        .sorted(Comparator.comparing(Lane::due))
        .forEach(
            lane -> {
              lane.working = true;
              working++;
              workers.execute(() -> work(lane));
            });
  }

  private void work(Lane lane) {
    try {
      take(lane)
          .flatMap(attempt -> end(lane, attempt.execute(environment, targets)))
          .ifPresent(completed);
    } catch (RuntimeException e) {
      LOG.error("{} will not fire again", lane.schedule.key(), e);
      synchronized (this) {
        lane.drop();
      }
    }
    synchronized (this) {
      if (lane.isDue(clock.instant()) && !closed) {
        workers.execute(() -> work(lane));
        return;
      }
      lane.working = false;
      if (--working == 0) {
        notifyAll();
      }
    }
  }

  private synchronized Optional<Attempt> take(Lane lane) {
    return closed ? Optional.empty() : lane.take(clock.instant());
  }

  /** Ends an attempt. Returns the schedule if it is to be deleted now. */
  private synchronized Optional<Schedule> end(Lane lane, Optional<Attempt> retry) {
    retry.ifPresent(lane::await);
    return lane.completed();
  }

  /** The pending work of one schedule, guarded by the engine's monitor. */
  private final class Lane {
    private Schedule schedule;
    private Timing timing;
    private Optional<Instant> next;
    private final PriorityQueue<Attempt> retries = new PriorityQueue<>();
    private boolean working;
    private boolean dropped;

    Lane(Schedule schedule, Function<Timing, Optional<Instant>> first) {
      this.schedule = schedule;
      timing = schedule.timing();
      next = first.apply(timing).filter(due -> schedule.definition().enabled());
    }

    /**
     * A change that keeps the due times keeps events that are due but not started. A rate starts
     * again with every change. Retries continue with the target that failed.
     */
    void change(Schedule changed, Instant now) {
      boolean keepsTimes =
          changed.definition().sameTimes(schedule.definition()) && !(timing instanceof Timing.Rate);
      schedule = changed;
      timing = changed.timing();
      if (!keepsTimes) {
        next = timing.first(now).filter(due -> changed.definition().enabled());
      }
    }

    void drop() {
      dropped = true;
      next = Optional.empty();
      retries.clear();
    }

    void await(Attempt retry) {
      if (!dropped) {
        retries.add(retry);
      }
    }

    /** The earliest attempt that is due, a retry before a new event of the same instant. */
    Optional<Attempt> take(Instant now) {
      if (!isDue(now)) {
        return Optional.empty();
      }
      Attempt retry = retries.peek();
      if (retry != null && next.map(fire -> !fire.isBefore(retry.due())).orElse(true)) {
        retries.remove();
        return Optional.of(retry);
      }
      Instant fire = next.orElseThrow();
      next = timing.next(fire);
      for (Duration delay : delays.apply(schedule.key().name())) {
        retries.add(new Attempt(schedule, fire, fire.plus(delay), 1));
      }
      return take(now);
    }

    boolean isDue(Instant now) {
      return !due().isAfter(now);
    }

    Instant due() {
      Attempt retry = retries.peek();
      Instant fire = next.orElse(Instant.MAX);
      return retry != null && retry.due().isBefore(fire) ? retry.due() : fire;
    }

    /** The schedule, if it has fired for the last time and is to be deleted then. */
    Optional<Schedule> completed() {
      Definition definition = schedule.definition();
      boolean last = definition.enabled() && definition.deletedAfterCompletion() && !dropped;
      return last && next.isEmpty() && retries.isEmpty() ? Optional.of(schedule) : Optional.empty();
    }
  }
}
