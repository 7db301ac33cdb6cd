package dev.tollgate.cli.command;

import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.local.Cloud;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.lang.management.ManagementFactory;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code tollgate up}. */
@Command(
    name = "up",
    sortOptions = false,
    description = {
      "Run the synthesized stack on this machine, without an AWS account or Docker, until Ctrl-C.",
      "Other commands address it as context local. With --outputs, they need the same option instead,"
          + " and context local stays as it is."
    })
final class Up implements Callable<Integer> {
  private static final Duration FOREVER = Duration.ofDays(36_500);

  private static final String STOPPING_SLOWLY =
      "Stopping. This takes some seconds once after a build: the classes that were used are recorded,"
          + " for a faster start ...";

  /** One tenant for each of the default tiers. */
  private static final List<String> DEMO_TIERS = List.of("bronze", "silver", "gold");

  private final Tollgate tollgate;
  private final Shell shell;
  private final Cloud.Starter starter;

  @Option(
      names = "--demo",
      description = "Onboard three tenants: bronze-demo, silver-demo and gold-demo.")
  private boolean demo;

  @Option(
      names = "--data",
      paramLabel = "DIR",
      description =
          "Keep tables, queues and schedules in this directory across restarts. Default: in"
              + " memory.")
  private Optional<Path> data = Optional.empty();

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port to listen on; 0 picks a free one. Default: 8080.")
  private int port = 8080;

  @ArgGroup(exclusive = false, validate = false, heading = "%nRarely needed:%n")
  private Rare rare = new Rare();

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
            rare.bind,
            port,
            rare.hosts,
            log,
            data.map(shell::file),
            keySetLocations(),
            !rare.withoutIam,
            rare.faults.map(shell::file),
            rare.requests.map(shell::file));
    requireFreePort();
    CountDownLatch stopped = new CountDownLatch(1);
    try (Cloud cloud = starter.start(settings)) {
      stopWhenInterrupted(stopped);
      Path claims = file.resolveSibling("claims.env");
      Optional<Path> claimed =
          cloud.writeClaimsEnvironment(claims) ? Optional.of(claims) : Optional.empty();
      cloud.writeAlarmsEnvironment(file.resolveSibling(LocalAccess.FILE));
      // Written last, because scripts wait for this file.
      cloud.writeOutputs(file);
      Outputs outputs = Outputs.read("--outputs", file, Optional.empty());
      String options = "--outputs " + shell.shown(file);
      if (!tollgate.namesOutputs()) {
        options = registerContext(outputs);
      }
      if (demo) {
        onboardDemo(outputs);
      }
      Duration took = Duration.ofNanos(shell.nanoTime().getAsLong() - start);
      tollgate.print(
          Json.object(Map.of(outputs.stack(), outputs.values())),
          new Welcome(outputs, log, claimed, settings.data(), options).lines(shell, took));
      shell.pause().sleep(FOREVER);
    } catch (InterruptedException e) {
      // Ctrl-C: the cloud is closed, and the shutdown hook waits only for this method.
    } finally {
      stopped.countDown();
    }
    return 0;
  }

  private Map<String, URI> keySetLocations() {
    Map<String, URI> locations = new TreeMap<>();
    rare.keySets.forEach((issuer, location) -> locations.put(issuer, keySetLocation(location)));
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
      // The value is neither a URL nor a file name.
    }
    throw Failure.usage("--jwks: " + location + " (expected: an existing file, or a URL)");
  }

  private Path assembly() {
    Path home = shell.home().orElse(shell.directory());
    Path release = home.resolve("stack");
    Path directory =
        rare.assembly
            .map(shell::file)
            .orElse(
                Files.isDirectory(release)
                    ? release
                    : home.resolve(Path.of("infra", "target", "cdk.out")));
    if (!Files.isDirectory(directory)) {
      throw Failure.of("No synthesized stack in " + directory + ". Create it with `mvn package`.");
    }
    return directory;
  }

  /** Checks the likeliest error, a port in use, before the slow start of the engines. */
  private void requireFreePort() {
    try (ServerSocket probe = new ServerSocket()) {
      probe.bind(new InetSocketAddress(InetAddress.getByName(rare.bind), port));
    } catch (UnknownHostException e) {
      throw Failure.usage("--bind: " + rare.bind + " (expected: an address of this machine)");
    } catch (BindException e) {
      throw Failure.of(
          "Port "
              + port
              + " on "
              + rare.bind
              + ": "
              + e.getMessage()
              + ". Stop the program that uses the port, or choose another port: ./tollgate up --port "
              + (port + 1),
          e);
    } catch (IOException e) {
      throw Failure.of("Port " + port + " on " + rare.bind + ": " + e.getMessage(), e);
    }
  }

  /** Interrupts the command on Ctrl-C, and delays the end of the JVM until the cloud is closed. */
  private void stopWhenInterrupted(CountDownLatch stopped) {
    Thread command = Thread.currentThread();
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  shell.printError(recordsClasses() ? STOPPING_SLOWLY : "Stopping ...");
                  command.interrupt();
                  try {
                    stopped.await();
                  } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                  }
                },
                "tollgate-stop"));
  }

  /** Whether this JVM writes an archive of its classes when it ends; see the launcher. */
  private static boolean recordsClasses() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .anyMatch(flag -> flag.startsWith("-XX:ArchiveClassesAtExit"));
  }

  /**
   * Makes the local cloud addressable as context {@code local}.
   *
   * @return the options that commands need to address it
   */
  private String registerContext(Outputs outputs) {
    try {
      Context local = Context.of(Context.LOCAL, outputs, Optional.empty(), Optional.empty(), false);
      ContextFile contexts = tollgate.changeContexts(file -> file.with(local));
      boolean isDefault =
          tollgate.contextOfEnvironment().or(contexts::chosen).equals(Optional.of(Context.LOCAL));
      return isDefault ? "" : "--context " + Context.LOCAL;
    } catch (Failure e) {
      // The cloud runs, and its outputs file addresses it.
      shell.printError("tollgate: " + e.getMessage());
      return "--outputs " + shell.shown(outputs.file());
    }
  }

  private void onboardDemo(Outputs outputs) {
    Api api = new Api(Api.client(), outputs.controlPlane(), Optional.empty());
    List<CompletableFuture<Optional<Failure>>> onboarded =
        DEMO_TIERS.stream()
            .map(tier -> CompletableFuture.supplyAsync(() -> onboardDemo(api, tier)))
            .toList();
    for (int i = 0; i < onboarded.size(); i++) {
      String tenant = DEMO_TIERS.get(i) + "-demo";
      onboarded
          .get(i)
          .join()
          .ifPresent(e -> shell.printError("tollgate: " + tenant + ": " + e.getMessage()));
    }
  }

  /** With --data, the tenant may exist with different settings. That is no reason to stop. */
  private static Optional<Failure> onboardDemo(Api api, String tier) {
    try {
      Tenants.onboard(api, tier + "-demo", tier, Map.of());
      return Optional.empty();
    } catch (Failure e) {
      return Optional.of(e);
    }
  }

  /** The options that few runs need. */
  private static final class Rare {
    @Option(
        names = "--bind",
        paramLabel = "ADDRESS",
        description =
            "Address to listen on. Default: 127.0.0.1, which other machines cannot reach.")
    private String bind = "127.0.0.1";

    @Option(
        names = "--host",
        paramLabel = "NAME",
        description =
            "Host name that requests may use for this machine. May be repeated. Default: only"
                + " localhost and IP addresses, as protection against DNS rebinding.")
    private Set<String> hosts = Set.of();

    @Option(
        names = "--assembly",
        paramLabel = "DIR",
        description =
            "Directory of the synthesized CDK app. Default: infra/target/cdk.out; in a release,"
                + " stack.")
    private Optional<Path> assembly = Optional.empty();

    @Option(
        names = "--jwks",
        paramLabel = "ISSUER=FILE|URL",
        description =
            "Read a token issuer's public keys (a JWK set) from a file or URL. May be repeated."
                + " Default: download them from the issuer.")
    private Map<String, String> keySets = Map.of();

    @Option(
        names = "--no-iam",
        description =
            "Do not enforce IAM. Default: enforce the IAM policies in the template, as AWS does.")
    private boolean withoutIam;

    @Option(
        names = "--faults",
        paramLabel = "FILE",
        description = "Inject the faults in this file into the AWS services. Default: no faults.")
    private Optional<Path> faults = Optional.empty();

    @Option(
        names = "--requests",
        paramLabel = "FILE",
        description =
            "Write each request to an AWS service to this file: a line of JSON with its time,"
                + " caller, service, operation, resource and status. Replaces the file. Default: do"
                + " not.")
    private Optional<Path> requests = Optional.empty();
  }
}
