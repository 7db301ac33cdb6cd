package dev.tollgate.local.scheduler;

import dev.tollgate.local.template.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;

/** Schedulers that fire on time. */
final class Schedulers {
  private Schedulers() {}

  static Scheduler started(InstantSource clock, Targets targets, Optional<Path> directory) {
    Scheduler scheduler =
        new Scheduler(
            Environment.of("App", clock), targets, name -> List.of(Duration.ZERO), directory);
    scheduler.start();
    return scheduler;
  }
}
