package dev.tollgate.cli.command;

import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs the whole stack on this machine until it is interrupted. */
@Command(
    name = "up",
    description = "Run the synthesized stack on this machine: no AWS account, no Docker.")
final class Up implements Callable<Integer> {
  private static final Duration FOREVER = Duration.ofDays(36_500);

  /** One tenant for each of the default tiers. */
  private static final List<String> DEMO_TIERS = List.of("bronze", "silver", "gold");

  private final Tollgate tollgate;
  private final Shell shell;
  private final Cloud.Starter starter;

  @Option(names = "--port", paramLabel = "PORT", description = "Default: 8080; 0 for any.")
  private int port = 8080;

  @Option(
      names = "--bind",
      paramLabel = "ADDRESS",
      description = "Address to listen at. Default: 127.0.0.1, so that only this machine sees it.")
  private String bind = "127.0.0.1";

  @Option(
      names = "--host",
      paramLabel = "NAME",
      description =
          "Name of this machine by which requests may address it; may be given several times."
              + " Default: localhost and IP addresses only, so that no web site can reach it under"
              + " a name of its own (DNS rebinding).")
  private Set<String> hosts = Set.of();

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description = "Keep tables, queues and schedules there over a restart. Default: in memory.")
  private Optional<Path> data = Optional.empty();

  @Option(
      names = "--demo",
      description = "Onboard three tenants: bronze-demo, silver-demo and gold-demo.")
  private boolean demo;

  @Option(
      names = "--assembly",
      paramLabel = "DIR",
      description = "The synthesized CDK app. Default: infra/target/cdk.out.")
  private Optional<Path> assembly = Optional.empty();

  @Option(
      names = "--jwks",
      paramLabel = "ISSUER=FILE|URL",
      description =
          "Read an issuer's public keys (a JWK set) from a file or URL, for a stack whose sessions"
              + " take tokens. Default: download them from the issuer.")
  private Map<String, String> keySets = Map.of();

  @Option(
      names = "--no-iam",
      description =
          "Let every function do everything. Default: what its role's policies in the template"
              + " allow, as AWS would.")
  private boolean withoutIam;

  @Option(
      names = "--faults",
      paramLabel = "FILE",
      description = "Let AWS's services go wrong as this plan says. Default: nothing goes wrong.")
  private Optional<Path> faults = Optional.empty();

  Up(Tollgate tollgate, Shell shell, Cloud.Starter starter) {
    this.tollgate = tollgate;
    this.shell = shell;
    this.starter = starter;
  }

  @Override
  public Integer call() {
    final long start = shell.nanoTime().getAsLong();
    Path file = tollgate.outputsToWrite();
    Path log = file.resolveSibling("up.log");
    Cloud.Settings settings =
        new Cloud.Settings(
            assembly(),
            bind,
            port,
            hosts,
            log,
            data.map(shell::file),
            keySetLocations(),
            !withoutIam,
            faults.map(shell::file));
    requireFreePort();
    CountDownLatch stopped = new CountDownLatch(1);
    try (Cloud cloud = starter.start(settings)) {
      stopWhenInterrupted(stopped);
      Path claims = file.resolveSibling("claims.env");
      Optional<Path> claimed =
          cloud.writeClaimsEnvironment(claims) ? Optional.of(claims) : Optional.empty();
      // Last, because scripts wait for this file.
      cloud.writeOutputs(file);
      Outputs outputs = Outputs.read(file, Optional.empty());
      if (demo) {
        onboardDemo(outputs);
      }
      Duration took = Duration.ofNanos(shell.nanoTime().getAsLong() - start);
      tollgate.print(
          Json.object(Map.of(outputs.stack(), outputs.values())),
          welcome(outputs, took, log, claimed));
      shell.pause().sleep(FOREVER);
    } catch (InterruptedException e) {
      // Ctrl-C: the cloud is closed by now, and the JVM waits for no more than this.
    } finally {
      stopped.countDown();
    }
    return 0;
  }

  private Map<String, URI> keySetLocations() {
    Map<String, URI> locations = new TreeMap<>();
    keySets.forEach((issuer, location) -> locations.put(issuer, keySetLocation(location)));
    return locations;
  }

  private URI keySetLocation(String location) {
    try {
      if (location.matches("https?://.*")) {
        return URI.create(location);
      }
      Path file = shell.file(Path.of(location));
      if (Files.isReadable(file)) {
        return file.toUri();
      }
    } catch (IllegalArgumentException e) {
      // Neither is it a URL, nor can it be the name of a file.
    }
    throw Failure.usage("--jwks: " + location + " (expected: a file that is there, or a URL)");
  }

  private Path assembly() {
    Path directory =
        assembly
            .map(shell::file)
            .orElseGet(
                () ->
                    shell
                        .home()
                        .orElse(shell.directory())
                        .resolve(Path.of("infra", "target", "cdk.out")));
    if (!Files.isDirectory(directory)) {
      throw Failure.of("No synthesized stack in " + directory + "; `mvn package` makes it");
    }
    return directory;
  }

  /**
   * A port that is taken is the one fault that is likely, and better said before the engines start.
   */
  private void requireFreePort() {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getByName(bind), port));
    } catch (UnknownHostException e) {
      throw Failure.usage("--bind: " + bind + " (expected: an address of this machine)");
    } catch (BindException e) {
      throw Failure.of(
          "Port "
              + port
              + " on "
              + bind
              + ": "
              + e.getMessage()
              + ". Stop what listens there, or choose another: ./tollgate up --port "
              + (port + 1),
          e);
    } catch (IOException e) {
      throw Failure.of("Port " + port + " on " + bind + ": " + e.getMessage(), e);
    }
  }

  /** Ctrl-C interrupts the command, and the JVM does not end before the cloud is closed. */
  private static void stopWhenInterrupted(CountDownLatch stopped) {
    Thread command = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  command.interrupt();
                  try {
                    stopped.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                },
                "tollgate-stop"));
  }

  private void onboardDemo(Outputs outputs) {
    Api api = tollgate.api(outputs.uri("ControlPlaneURL"));
    for (String tier : DEMO_TIERS) {
      try {
        Tenants.onboard(api, tier + "-demo", tier, Map.of());
      } catch (Failure e) {
        // With --data the tenant may be there and stand otherwise by now; that stops nobody.
        shell.complain("tollgate: " + tier + "-demo: " + e.getMessage());
      }
    }
  }

  private List<String> welcome(Outputs outputs, Duration took, Path log, Optional<Path> claims) {
    Table addresses = new Table("", "");
    outputs.values().entrySet().stream()
        .filter(output -> !output.getKey().startsWith("Application"))
        .sorted(Map.Entry.comparingByKey())
        .forEach(output -> addresses.row(output.getKey(), output.getValue()));
    String tenant = demo ? "bronze-demo" : "acme";
    String first = demo ? "tenants list" : "tenants onboard acme --tier bronze";
    return List.of(
        "Tollgate is up after " + Tollgate.seconds(took) + "; Ctrl-C stops it.",
        "",
        String.join("\n", addresses.lines()),
        "",
        "These are in "
            + shell.shown(outputs.file())
            + " as well; the functions log to "
            + shell.shown(log)
            + "."
            + claims
                .map(
                    environment ->
                        "\nPrograms that claim tokens need the environment in "
                            + shell.shown(environment)
                            + ".")
                .orElse(""),
        "Try, in another terminal:",
        "",
        "  ./tollgate " + first,
        "  ./tollgate connect " + tenant + " --sockets 3 --hold 60",
        "  ./tollgate tenants show " + tenant);
  }
}
