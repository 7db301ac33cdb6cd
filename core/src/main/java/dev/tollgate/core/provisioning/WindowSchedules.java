package dev.tollgate.core.provisioning;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.tenant.LimitSchedule;
import java.time.Instant;
import java.util.List;

/**
 * The one-time schedules that open and close the windows of scheduled limits. They only make it
 * punctual: the sweep opens and closes windows too, within a minute. A schedule that is left behind
 * fires once, changes nothing and deletes itself. Every method throws {@link Unavailable} if the
 * scheduler fails.
 */
public interface WindowSchedules {
  /** Creates the schedules of a window that are due after {@code now}, unless they exist. */
  void put(Subject owner, LimitSchedule window, Instant now);

  /** Deletes the schedules of a window that exist. */
  void delete(Subject owner, LimitSchedule window);

  /**
   * The schedules of a window that are due after {@code now} and missing, as the local times at
   * which they would fire.
   */
  List<String> missing(Subject owner, LimitSchedule window, Instant now);
}
