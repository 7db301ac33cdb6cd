package dev.tollgate.local.scheduler;

import dev.tollgate.local.template.Environment;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Schedulers that fire on time. */
final class Schedulers {
  private Schedulers() {}

  static Scheduler started(InstantSource clock, Targets targets, Optional<Path> directory) {
    return started(clock, targets, group -> Duration.ZERO, directory);
  }

  static Scheduler started(
      InstantSource clock,
      Targets targets,
      Function<String, Duration> deletionTime,
      Optional<Path> directory) {
    Scheduler scheduler =
        new Scheduler(
            Environment.of("App", clock),
            targets,
            name -> List.of(Duration.ZERO),
            deletionTime,
            directory);
    scheduler.start();
    return scheduler;
  }
}
