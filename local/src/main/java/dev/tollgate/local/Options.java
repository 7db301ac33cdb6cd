package dev.tollgate.local;

import dev.tollgate.local.endpoint.Exchange;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.hosts.AllowedHosts;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The options of a local cloud.
 *
 * @param assembly the directory that {@code cdk synth} wrote
 * @param bind the address at which the public APIs listen
 * @param port their port; 0 for any that is free
 * @param hosts host names that clients may use, besides localhost, IP addresses and the name to
 *     bind
 * @param dataDirectory where tables, queues and schedules are kept across restarts; without it they
 *     are in memory
 * @param logFile where the log of functions and errors is appended; without it the log goes to
 *     logger {@code dev.tollgate.local}
 * @param keySets the locations of the key sets (RFC 7517) of token issuers, by issuer: URLs of
 *     scheme file, http or https. For other issuers the location is read from the discovery
 *     document, as API Gateway does
 * @param iam whether policies are enforced
 * @param faults the planned faults
 * @param observer receives each call of an AWS API with its answer, from the stack's creation on;
 *     it must be quick, because it runs on a thread that answers calls
 * @param clock the clock of queues, schedules, functions, credentials and connections
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
    Optional<Consumer<Exchange>> observer,
    InstantSource clock) {
  /** Refuses an invalid port and invalid locations of key sets. */
  public Options {
    Set<String> names = new TreeSet<>(hosts);
    if (!bind.contains(":")) {
      names.add(bind);
    }
    hosts = Set.copyOf(names);
    var unused = new AllowedHosts(hosts);
    keySets = Map.copyOf(keySets);
    keySets.forEach(Options::requireKeySet);
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port + " (expected: 0 to 65535)");
    }
  }

  /** A cloud that enforces policies and injects no faults. */
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
        Optional.empty(),
        clock);
  }

  /** These options, without enforcement of policies. */
  public Options withoutIam() {
    return new Options(
        assembly,
        bind,
        port,
        hosts,
        dataDirectory,
        logFile,
        keySets,
        false,
        faults,
        observer,
        clock);
  }

  /** These options, with planned faults. */
  public Options with(FaultPlan plan) {
    return new Options(
        assembly, bind, port, hosts, dataDirectory, logFile, keySets, iam, plan, observer, clock);
  }

  /** These options, with an observer of all calls of AWS APIs. */
  public Options observedBy(Consumer<Exchange> other) {
    return new Options(
        assembly,
        bind,
        port,
        hosts,
        dataDirectory,
        logFile,
        keySets,
        iam,
        faults,
        Optional.of(other),
        clock);
  }

  private static void requireKeySet(String issuer, URI location) {
    if (!List.of("file", "http", "https").contains(String.valueOf(location.getScheme()))) {
      throw new IllegalArgumentException(
          "keys of " + issuer + ": " + location + " (expected: file:, http: or https:)");
    }
  }

  /** A cloud in memory, on a free port of the loopback interface. */
  public static Options inMemory(Path assembly, InstantSource clock) {
    return new Options(
        assembly, "127.0.0.1", 0, Optional.empty(), Optional.empty(), Map.of(), clock);
  }
}
