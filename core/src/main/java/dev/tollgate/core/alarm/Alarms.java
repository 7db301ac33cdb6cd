package dev.tollgate.core.alarm;

import dev.tollgate.core.Unavailable;
import java.util.List;

/** Port: the alarms of the deployment. */
@FunctionalInterface
public interface Alarms {
  /**
   * All alarms by name; none if the deployment has none.
   *
   * @throws Unavailable if the service that evaluates them does not answer
   */
  List<Alarm> list();
}
