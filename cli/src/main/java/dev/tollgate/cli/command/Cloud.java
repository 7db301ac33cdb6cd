package dev.tollgate.cli.command;

import dev.tollgate.cli.http.Failure;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A local cloud that is up; closing it stops everything in it. */
public interface Cloud extends AutoCloseable {

  /** Writes the outputs of its stack in the shape of {@code cdk deploy --outputs-file}. */
  void writeOutputs(Path file);

  /**
   * Writes what the environment of a program on this machine must hold to claim tokens, a {@code
   * NAME=value} a line. Deletes the file if the stack lets no program claim.
   *
   * @return whether it does
   */
  boolean writeClaimsEnvironment(Path file);

  @Override
  void close();

  /** Starts a local cloud. */
  @FunctionalInterface
  interface Starter {
    Cloud start(Settings settings);
  }

  /**
   * What a local cloud is started with.
   *
   * @param assembly the directory that the CDK app was synthesized to
   * @param bind the address to listen at
   * @param port the port for clients; 0 for any
   * @param hosts names by which it may be addressed, besides localhost and IP addresses
   * @param log where to append what the functions log
   * @param data where to keep state over a restart; empty for memory
   * @param keySets where the keys of issuers of tokens are, by issuer, if not where these say
   * @param iam whether policies are obeyed
   * @param faults a file that says what is to go wrong; nothing goes wrong without it
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
      Optional<Path> faults) {
    public Settings {
      hosts = Set.copyOf(hosts);
      keySets = Map.copyOf(keySets);
      if (port < 0 || port > 65_535) {
        throw Failure.usage("--port: " + port + " (expected: 0 to 65535)");
      }
    }
  }
}
