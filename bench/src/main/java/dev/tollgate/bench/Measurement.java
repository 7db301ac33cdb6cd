package dev.tollgate.bench;

import dev.tollgate.bench.client.Deployment;
import java.time.Duration;
import java.util.List;

/** Something that is measured on a running deployment. */
public interface Measurement {
  /** The time after which it is given up. */
  Duration patience();

  /**
   * Measures, with tenants of its own.
   *
   * @return at least one row
   * @throws IllegalStateException if the deployment does not do what the measurement builds on
   * @throws InterruptedException if it is given up
   */
  List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException;
}
