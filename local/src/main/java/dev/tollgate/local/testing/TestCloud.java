package dev.tollgate.local.testing;

import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.Function;

/** A local cloud with a clock that stands still until a test moves it. */
public final class TestCloud implements AutoCloseable {
  private final ManualClock clock;
  private final LocalCloud cloud;

  private TestCloud(ManualClock clock, LocalCloud cloud) {
    this.clock = clock;
    this.cloud = cloud;
  }

  /**
   * Starts a cloud that keeps everything in memory.
   *
   * @param assembly the directory that {@code cdk synth} wrote
   */
  public static TestCloud start(Path assembly) {
    return start(clock -> Options.inMemory(assembly, clock));
  }

  /**
   * Starts a cloud whose clock is a day ahead of the system's. DynamoDB Local deletes expired items
   * by the system's time, so no item disappears that is still valid by the cloud's clock.
   *
   * @param options the options, given the clock that they must name
   */
  public static TestCloud start(Function<ManualClock, Options> options) {
    return start(InstantSource.system().instant().plus(1, ChronoUnit.DAYS), options);
  }

  /**
   * Starts a cloud in this minute.
   *
   * @param options the options, given the clock that they must name
   */
  public static TestCloud start(Instant minute, Function<ManualClock, Options> options) {
    ManualClock clock = new ManualClock(minute.truncatedTo(ChronoUnit.MINUTES).plusSeconds(5));
    return new TestCloud(clock, LocalCloud.start(options.apply(clock)));
  }

  /** The cloud: its endpoint, outputs, recorded requests, faults and credentials. */
  public LocalCloud cloud() {
    return cloud;
  }

  /** The clock of the cloud. */
  public ManualClock clock() {
    return clock;
  }

  /**
   * Moves the clock on, and stops at each full minute on the way until everything that is due has
   * happened. So schedules fire as they would in real time. What has started before ends before the
   * clock moves, so no function sees the clock jump.
   */
  public void advance(Duration by) throws InterruptedException {
    cloud.settle();
    Instant end = clock.instant().plus(by);
    Instant minute = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    for (; !minute.isAfter(end); minute = minute.plusSeconds(60)) {
      clock.set(minute);
      cloud.settle();
    }
    clock.set(end);
    cloud.settle();
  }

  @Override
  public void close() {
    cloud.close();
  }
}
