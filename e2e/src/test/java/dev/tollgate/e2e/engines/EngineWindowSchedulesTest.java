package dev.tollgate.e2e.engines;

import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.testing.contract.WindowSchedulesContract;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.testing.ManualClock;
import java.time.Instant;
import org.junit.jupiter.api.AfterAll;

/** The contract of the schedules of windows, on the scheduler of the local cloud. */
class EngineWindowSchedulesTest extends WindowSchedulesContract {
  private static final BucketCloud CLOUD =
      BucketCloud.start(FaultPlan.none(), new ManualClock(Instant.parse("2026-03-01T12:00:00Z")));

  @AfterAll
  static void stop() {
    CLOUD.close();
  }

  @Override
  protected WindowSchedules windows() {
    return CLOUD.windows();
  }
}
