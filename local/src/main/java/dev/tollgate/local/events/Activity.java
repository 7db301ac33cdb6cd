package dev.tollgate.local.events;

/** How many readers are at work, and how much has been done; shared by all readers. */
final class Activity {
  private int atWork;
  private long done;

  synchronized void begin() {
    atWork++;
  }

  synchronized void end() {
    atWork--;
    notifyAll();
  }

  /** Notes that a function was invoked. */
  synchronized void invoked() {
    done++;
  }

  /** Waits until no reader is at work; returns the number of invocations so far. */
  synchronized long awaitQuiet() throws InterruptedException {
    while (atWork > 0) {
      wait();
    }
    return done;
  }
}
