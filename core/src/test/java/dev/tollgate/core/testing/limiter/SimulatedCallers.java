package dev.tollgate.core.testing.limiter;

import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.TokenQueue;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * Concurrent callers whose requests run one at a time, in an order determined by a seed. Each
 * caller has its own time in milliseconds, and the one with the earliest time goes next. The clock
 * does not move.
 */
final class SimulatedCallers {
  private static final Executor THREADS = Threads.unbounded("caller");
  private static final int LONGEST_REQUEST_MILLIS = 12;
  private static final int FIRST_PAUSE_MILLIS = 20;

  private final List<Caller> callers = new ArrayList<>();
  private final Lock lock = new ReentrantLock();

  private SimulatedCallers() {}

  /** Runs the work of several callers at the same time; returns their results. */
  static <T> List<T> run(int count, long seed, Function<Caller, T> work) {
    SimulatedCallers all = new SimulatedCallers();
    IntStream.range(0, count).forEach(i -> all.callers.add(all.new Caller(i, seed + i)));
    return all.callers.stream()
        .map(caller -> CompletableFuture.supplyAsync(() -> caller.work(work), THREADS))
        .toList()
        .stream()
        .map(CompletableFuture::join)
        .toList();
  }

  private boolean isNext(Caller caller) {
    return callers.stream()
        .filter(other -> !other.done)
        .noneMatch(
            other ->
                other.millis < caller.millis
                    || (other.millis == caller.millis && other.number < caller.number));
  }

  /** Wakes the next caller, and work that goes on after the end of its caller. */
  private void wakeNext() {
    callers.stream().filter(this::isNext).forEach(caller -> caller.turn.signalAll());
  }

  /** A simulated caller. */
  final class Caller {
    private final int number;
    private final Random random;
    private final Condition turn = lock.newCondition();
    private long millis;
    private int pauses;
    private boolean done;

    Caller(int number, long seed) {
      this.number = number;
      this.random = new Random(seed);
      this.millis = random.nextInt(LONGEST_REQUEST_MILLIS);
    }

    private <T> T work(Function<Caller, T> work) {
      try {
        pass(0);
        return work.apply(this);
      } finally {
        lock.lock();
        try {
          done = true;
          wakeNext();
        } finally {
          lock.unlock();
        }
      }
    }

    private void pass(int passed) {
      lock.lock();
      try {
        millis += passed;
        wakeNext();
        while (!isNext(this)) {
          turn.awaitUninterruptibly();
        }
      } finally {
        lock.unlock();
      }
    }

    /**
     * Pauses for a random time up to a bound that doubles each time. Ignores the requested pause,
     * which is random but not determined by the seed.
     */
    void pause(Duration unseeded) {
      pass(random.nextInt(FIRST_PAUSE_MILLIS << ++pauses));
    }

    /** Wraps a queue so that each request takes some milliseconds. */
    TokenQueue around(TokenQueue queue) {
      return (TokenQueue)
          Proxy.newProxyInstance(
              TokenQueue.class.getClassLoader(),
              new Class<?>[] {TokenQueue.class},
              (proxy, method, arguments) -> {
                pass(1 + random.nextInt(LONGEST_REQUEST_MILLIS));
                try {
                  return method.invoke(queue, arguments);
                } catch (InvocationTargetException thrown) {
                  throw thrown.getCause();
                }
              });
    }
  }
}
