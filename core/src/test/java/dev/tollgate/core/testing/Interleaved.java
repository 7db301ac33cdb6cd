package dev.tollgate.core.testing;

import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Work that stops at each pause until the test resumes it, so that other events can happen in
 * between. It has its own thread, but the test and the work never run at the same time, so a seed
 * determines the history.
 */
public final class Interleaved implements Pause {
  /** Work that is not resumed within this time ends, because its test is over. */
  private static final long ABANDONED_SECONDS = 60;

  private static final Executor THREADS = Threads.unbounded("interleaved");

  private final InstantSource clock;
  private final Semaphore itsTurn = new Semaphore(0);
  private final Semaphore othersTurn = new Semaphore(0);
  private Optional<Instant> wakesAt = Optional.empty();
  private Optional<Throwable> failure = Optional.empty();

  /** Creates idle work that uses this clock. */
  public Interleaved(InstantSource clock) {
    this.clock = clock;
  }

  /** Starts work, and returns at its first pause or its end. */
  public void begin(Runnable work) {
    if (wakesAt.isPresent()) {
      throw new IllegalStateException("The earlier work is paused until " + wakesAt.get());
    }
    THREADS.execute(() -> run(work));
    resume();
  }

  private void run(Runnable work) {
    await(itsTurn);
    try {
      work.run();
    } catch (Throwable thrown) {
      failure = Optional.of(thrown);
    } finally {
      wakesAt = Optional.empty();
      othersTurn.release();
    }
  }

  /** When the work must be resumed; empty if no work is paused. */
  public Optional<Instant> wakesAt() {
    return wakesAt;
  }

  /** Resumes the work until its next pause or its end. Throws what the work throws. */
  public void resume() {
    wakesAt = Optional.empty();
    itsTurn.release();
    await(othersTurn);
    Optional<Throwable> thrown = failure;
    failure = Optional.empty();
    if (thrown.isPresent()) {
      if (thrown.get() instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw thrown.get() instanceof Error error ? error : new AssertionError(thrown.get());
    }
  }

  @Override
  public void of(Duration duration) {
    wakesAt = Optional.of(clock.instant().plus(duration));
    othersTurn.release();
    await(itsTurn);
  }

  private static void await(Semaphore turn) {
    try {
      if (!turn.tryAcquire(ABANDONED_SECONDS, TimeUnit.SECONDS)) {
        throw new AssertionError("not resumed");
      }
    } catch (InterruptedException interrupted) {
      throw new AssertionError(interrupted);
    }
  }
}
