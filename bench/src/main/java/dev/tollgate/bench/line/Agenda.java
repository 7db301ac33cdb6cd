package dev.tollgate.bench.line;

import java.time.Duration;

/** Runs work at given times. All times are since the start of a run. */
interface Agenda {
  /** The current time. */
  Duration now();

  /** Runs work at a time, or at once if the time is past. */
  void at(Duration time, Runnable work);
}
