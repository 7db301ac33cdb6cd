package dev.tollgate.local.scheduler;

import java.util.Comparator;

/** What identifies a schedule: names are unique within their group. */
record ScheduleKey(String group, String name) implements Comparable<ScheduleKey> {
  private static final Comparator<ScheduleKey> ORDER =
      Comparator.comparing(ScheduleKey::group).thenComparing(ScheduleKey::name);

  String arn() {
    return Scheduler.arn("schedule/" + group + "/" + name);
  }

  String groupArn() {
    return Scheduler.arn("schedule-group/" + group);
  }

  @Override
  public int compareTo(ScheduleKey other) {
    return ORDER.compare(this, other);
  }
}
