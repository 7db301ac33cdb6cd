package dev.tollgate.cli.local;

import dev.tollgate.cli.http.Failure;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A running local cloud. Closing it stops everything in it. */
public interface Cloud extends AutoCloseable {

  /** Writes the outputs of its stack as {@code cdk deploy --outputs-file} does. */
  void writeOutputs(Path file);

  /**
   * Writes the environment variables that a program on this machine needs to claim tokens, one
   * {@code NAME=value} per line. If the stack does not allow programs to claim tokens, deletes the
   * file.
   *
   * @return whether programs can claim tokens
   */
  boolean writeClaimsEnvironment(Path file);

  /**
   * Writes the environment variables that a program on this machine needs to read the alarms and
   * the functions' logs.
   */
  void writeAlarmsEnvironment(Path file);

  /**
   * The environment variables of a caller that may do everything: endpoint, region and credentials.
   *
   * @param name the caller's name in records
   */
  Map<String, String> environmentOfAdministrator(String name);

  @Override
  void close();

  /** Starts a local cloud. */
  @FunctionalInterface
  interface Starter {
    Cloud start(Settings settings);
  }

  /**
   * The settings of a local cloud.
   *
   * @param assembly the directory that the CDK app was synthesized to
   * @param bind the address to listen on
   * @param port the port for clients; 0 picks a free one
   * @param hosts host names that requests may use, besides localhost and IP addresses
   * @param log the file that the functions' logs are appended to
   * @param data the directory that keeps state across restarts; empty for memory
   * @param keySets the locations of issuers' keys, by issuer; others are downloaded from the issuer
   * @param iam whether IAM policies are enforced
   * @param faults the file of faults to inject, if any
   * @param requests the file that AWS requests are written to, if any
   */
  record Settings(
      Path assembly,
      String bind,
      int port,
      Set<String> hosts,
      Path log,
      Optional<Path> data,
      Map<String, URI> keySets,
      boolean iam,
      Optional<Path> faults,
      Optional<Path> requests) {
    public Settings {
      hosts = Set.copyOf(hosts);
      keySets = Map.copyOf(keySets);
      if (port < 0 || port > 65_535) {
        throw Failure.usage("--port: " + port + " (expected: 0 to 65535)");
      }
    }
  }
}
