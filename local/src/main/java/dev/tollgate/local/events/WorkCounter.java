package dev.tollgate.local.events;

/** Counts the readers that are working and the invocations that they made. */
final class WorkCounter {
  private int working;
  private long invocations;

  synchronized void begin() {
    working++;
  }

  synchronized void end() {
    working--;
    notifyAll();
  }

  synchronized void invoked() {
    invocations++;
  }

  /** Waits until no reader is working; returns the number of invocations so far. */
  synchronized long awaitQuiet() throws InterruptedException {
    while (working > 0) {
      wait();
    }
    return invocations;
  }
}
