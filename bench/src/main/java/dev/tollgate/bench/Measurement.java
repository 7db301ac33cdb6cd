package dev.tollgate.bench;

import dev.tollgate.bench.client.Deployment;
import java.time.Duration;
import java.util.List;

/** A measurement of a running deployment. */
public interface Measurement {
  /** The time limit. After it the measurement is interrupted. */
  Duration timeout();

  /**
   * Measures, with tenants that it creates.
   *
   * @return at least one row
   * @throws IllegalStateException if the deployment does not behave as the measurement requires
   * @throws InterruptedException at the time limit
   */
  List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException;
}
