package dev.tollgate.local.lambda;

/** Counts the work that is under way and the invocations that it made. */
public final class WorkCounter {
  private int working;
  private long invocations;

  /** Begins a piece of work. */
  public synchronized void begin() {
    working++;
  }

  /** Ends a piece of work. */
  public synchronized void end() {
    working--;
    notifyAll();
  }

  /** Counts an invocation. */
  public synchronized void invoked() {
    invocations++;
  }

  /** Waits until no work is under way; returns the number of invocations so far. */
  public synchronized long awaitQuiet() throws InterruptedException {
    while (working > 0) {
      wait();
    }
    return invocations;
  }
}
