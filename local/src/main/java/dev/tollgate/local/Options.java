package dev.tollgate.local;

import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.sites.AllowedHosts;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a local cloud is to be started.
 *
 * @param assembly the directory that {@code cdk synth} wrote
 * @param bind the address at which the public APIs listen
 * @param port their port; 0 for any that is free
 * @param hosts names by which they may be addressed, besides localhost, IP addresses and the name
 *     to bind
 * @param dataDirectory where to keep tables, queues and schedules over a restart; without it they
 *     are kept in memory
 * @param logFile where to append what functions log and what goes wrong; without it that goes to
 *     logger {@code dev.tollgate.local}
 * @param keySets where the keys of issuers of tokens are (a JWK set, RFC 7517), by issuer: URLs of
 *     scheme file, http or https. An issuer that is not here is asked where they are, as API
 *     Gateway would ask it
 * @param iam whether policies are obeyed
 * @param faults what goes wrong on purpose
 * @param clock the time of queues, schedules, functions, credentials and connections
 */
public record Options(
    Path assembly,
    String bind,
    int port,
    Set<String> hosts,
    Optional<Path> dataDirectory,
    Optional<Path> logFile,
    Map<String, URI> keySets,
    boolean iam,
    FaultPlan faults,
    InstantSource clock) {
  /** Refuses a port that is none, and keys where none can be. */
  public Options {
    Set<String> names = new TreeSet<>(hosts);
    if (!bind.contains(":")) {
      names.add(bind);
    }
    hosts = Set.copyOf(names);
    var unused = AllowedHosts.LOCAL.and(hosts);
    keySets = Map.copyOf(keySets);
    keySets.forEach(Options::requireKeySet);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " (expected: 0 to 65535)");
    }
  }

  /** A cloud that obeys its policies, and where nothing goes wrong on purpose. */
  public Options(
      Path assembly,
      String bind,
      int port,
      Optional<Path> dataDirectory,
      Optional<Path> logFile,
      Map<String, URI> keySets,
      InstantSource clock) {
    this(
        assembly,
        bind,
        port,
        Set.of(),
        dataDirectory,
        logFile,
        keySets,
        true,
        FaultPlan.none(),
        clock);
  }

  /** The same, but everybody may do everything. */
  public Options withoutIam() {
    return new Options(
        assembly, bind, port, hosts, dataDirectory, logFile, keySets, false, faults, clock);
  }

  /** The same, but things go wrong by a plan. */
  public Options with(FaultPlan plan) {
    return new Options(
        assembly, bind, port, hosts, dataDirectory, logFile, keySets, iam, plan, clock);
  }

  private static void requireKeySet(String issuer, URI location) {
    if (!List.of("file", "http", "https").contains(String.valueOf(location.getScheme()))) {
      throw new IllegalArgumentException(
          "keys of " + issuer + ": " + location + " (expected: file:, http: or https:)");
    }
  }

  /** A cloud on a free port of the loopback interface that keeps nothing. */
  public static Options inMemory(Path assembly, InstantSource clock) {
    return new Options(
        assembly, "127.0.0.1", 0, Optional.empty(), Optional.empty(), Map.of(), clock);
  }
}
