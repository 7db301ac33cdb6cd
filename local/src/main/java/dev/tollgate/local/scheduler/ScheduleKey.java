package dev.tollgate.local.scheduler;

import dev.tollgate.local.template.Environment;
import java.util.Comparator;

/** Identifies a schedule. Names are unique within a group. */
record ScheduleKey(String group, String name) implements Comparable<ScheduleKey> {
  private static final Comparator<ScheduleKey> ORDER =
      Comparator.comparing(ScheduleKey::group).thenComparing(ScheduleKey::name);

  String arn(Environment environment) {
    return environment.arn("scheduler", "schedule/" + group + "/" + name);
  }

  @Override
  public int compareTo(ScheduleKey other) {
    return ORDER.compare(this, other);
  }
}
