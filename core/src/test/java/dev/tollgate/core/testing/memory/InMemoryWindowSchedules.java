package dev.tollgate.core.testing.memory;

import dev.tollgate.core.audit.Subject;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.tenant.LimitSchedule;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Schedules of windows in memory, which a test fires. */
public final class InMemoryWindowSchedules implements WindowSchedules {
  private final SortedMap<String, Timer> timers = new TreeMap<>();
  private final Outage outage = new Outage();

  /** One schedule: when it fires, and whose windows. */
  public record Timer(Instant at, Subject owner) {}

  private record End(String what, Instant at) {
    private String name(Subject owner) {
      return owner + " " + at + " " + what;
    }
  }

  private static Stream<End> ends(LimitSchedule window) {
    return Stream.of(new End("open", window.opensAt()), new End("close", window.closesAt()));
  }

  /** The outage of all methods. */
  public Outage outage() {
    return outage;
  }

  /** The existing schedules, by name. */
  public synchronized SortedMap<String, Timer> timers() {
    return new TreeMap<>(timers);
  }

  /** Removes the schedules that are due, as if they fired; returns whose they are. */
  public synchronized List<Subject> due(Instant now) {
    List<Subject> owners = new ArrayList<>();
    timers
        .values()
        .removeIf(
            timer -> {
              boolean isDue = !timer.at().isAfter(now);
              if (isDue) {
                owners.add(timer.owner());
              }
              return isDue;
            });
    return owners;
  }

  /** Deletes a schedule by hand. */
  public synchronized void lose(String name) {
    timers.remove(name);
  }

  @Override
  public synchronized void put(Subject owner, LimitSchedule window, Instant now) {
    outage.check("put");
    ends(window)
        .filter(end -> end.at().isAfter(now))
        .forEach(end -> timers.putIfAbsent(end.name(owner), new Timer(end.at(), owner)));
  }

  @Override
  public synchronized void delete(Subject owner, LimitSchedule window) {
    outage.check("delete");
    ends(window).forEach(end -> timers.remove(end.name(owner)));
  }

  @Override
  public synchronized List<String> missing(Subject owner, LimitSchedule window, Instant now) {
    outage.check("missing");
    return ends(window)
        .filter(end -> end.at().isAfter(now) && !timers.containsKey(end.name(owner)))
        .map(end -> end.at().atZone(window.zone()).toLocalDateTime() + " " + window.zone())
        .toList();
  }
}
