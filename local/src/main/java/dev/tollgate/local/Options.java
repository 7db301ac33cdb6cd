package dev.tollgate.local;

import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;

/**
 * How a local cloud is to be started.
 *
 * @param assembly the directory that {@code cdk synth} wrote
 * @param bind the address at which the public APIs listen
 * @param port their port; 0 for any that is free
 * @param dataDirectory where to keep tables, queues and schedules over a restart; without it they
 *     are kept in memory
 * @param logFile where to append what functions log and what goes wrong; without it that goes to
 *     logger {@code dev.tollgate.local}
 * @param iam whether policies are obeyed
 * @param clock the time of queues, schedules, functions, credentials and connections
 */
public record Options(
    Path assembly,
    String bind,
    int port,
    Optional<Path> dataDirectory,
    Optional<Path> logFile,
    boolean iam,
    InstantSource clock) {
  /** Refuses a port that is none. */
  public Options {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " (expected: 0 to 65535)");
    }
  }

  /** A cloud that obeys its policies. */
  public Options(
      Path assembly,
      String bind,
      int port,
      Optional<Path> dataDirectory,
      Optional<Path> logFile,
      InstantSource clock) {
    this(assembly, bind, port, dataDirectory, logFile, true, clock);
  }

  /** The same, but everybody may do everything. */
  public Options withoutIam() {
    return new Options(assembly, bind, port, dataDirectory, logFile, false, clock);
  }

  /** A cloud on a free port of the loopback interface that keeps nothing. */
  public static Options inMemory(Path assembly, InstantSource clock) {
    return new Options(assembly, "127.0.0.1", 0, Optional.empty(), Optional.empty(), clock);
  }
}
