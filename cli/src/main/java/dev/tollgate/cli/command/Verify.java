package dev.tollgate.cli.command;

import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.verify.AttachedDeployment;
import dev.tollgate.cli.verify.Bounds;
import dev.tollgate.cli.verify.Check;
import dev.tollgate.cli.verify.Deployment;
import dev.tollgate.cli.verify.HttpDeployment;
import dev.tollgate.cli.verify.JunitXml;
import dev.tollgate.cli.verify.Report;
import dev.tollgate.cli.verify.Verification;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The command {@code tollgate verify}: checks that a deployment keeps its promises. */
@Command(
    name = "verify",
    description = {
      "Check that the deployment keeps its promises: admission, limits, messages, onboarding.",
      "The checks use only the stack's outputs. They create tenants and tiers whose names begin with"
          + " verify-, and remove them at the end, also after a failure or Ctrl-C. They send about"
          + " 70 messages to the application's message handler.",
      "Exit code 1 if a check fails or is skipped, or something cannot be removed."
    })
final class Verify implements Callable<Integer> {
  private static final int MAX_PARALLEL = 16;

  private final Tollgate tollgate;
  private final Shell shell;

  @Option(
      names = "--check",
      paramLabel = "NAME",
      description = "Run only this check. May be repeated. Default: all.")
  private List<String> names = List.of();

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "Number of checks that run at once. Default: 4.")
  private int parallel = 4;

  @Option(
      names = "--junit",
      paramLabel = "FILE",
      description = "Also write the report as JUnit XML to this file.")
  private Optional<Path> junit = Optional.empty();

  @Option(
      names = "--token-command",
      paramLabel = "COMMAND",
      description =
          "Shell command that prints a JSON Web Token of the tenant in the environment variable"
              + " TENANT, if the session API or --handshake requires tokens.")
  private Optional<String> tokenCommand = Optional.empty();

  @Option(
      names = "--handshake",
      paramLabel = "QUERY",
      description =
          "Query of a handshake, if Tollgate is attached to an API of your own. TENANT stands for the"
              + " tenant's id, TOKEN for what --token-command prints: 'workspace=TENANT&user=verify'.")
  private Optional<String> handshake = Optional.empty();

  @Mixin private Confirmation confirmation = new Confirmation();

  Verify(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (parallel < 1 || parallel > MAX_PARALLEL) {
      throw Failure.usage("--parallel: " + parallel + " (expected: 1 to " + MAX_PARALLEL + ")");
    }
    Optional<Path> junitFile = junit.map(this::writable);
    List<Check> checks = checks();
    junitFile.ifPresent(this::begin);
    Report report = run(checks, junitFile);
    tollgate.print(report.document(), report.lines());
    junitFile.ifPresent(file -> write(file, it -> JunitXml.write(report, it)));
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private Report run(List<Check> checks, Optional<Path> junitFile) {
    try {
      return run(checks);
    } catch (Failure failure) {
      junitFile.ifPresent(
          file -> write(file, it -> JunitXml.writeUnfinished(failure.reason(), it)));
      throw failure;
    }
  }

  private Report run(List<Check> checks) {
    Target target = tollgate.target();
    if (target.production()) {
      tollgate.confirm(
          confirmation.isGiven(),
          "Create tenants and tiers, and send messages to the message handler?",
          "verify it");
    }
    String prefix = "verify-" + randomName();
    // Fails at once, and with the reason, if the deployment cannot be reached.
    Response tiers = tollgate.controlPlane().get("/tiers").orThrow();
    if (tiers.limitsLiftedUntil().isPresent()) {
      throw Failure.of(
          "All limits are lifted until "
              + tiers.limitsLiftedUntil().get()
              + ", so they cannot be verified. Run `tollgate admit-all off` first, or verify later.");
    }
    Verification run = new Verification(deployment(target.outputs()), shell, Bounds.REAL, prefix);
    shell.printError(
        "Verifying %s with %s; this usually takes %s."
            .formatted(
                target.description(),
                checks.size() == 1 ? "1 check" : checks.size() + " checks",
                about(Verification.usual(checks, parallel))),
        "Tenants and tiers of this run begin with " + prefix + " and are removed at the end.");
    AtomicBoolean running = new AtomicBoolean(true);
    try (Progress progress = tollgate.progress()) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> removeAfterSignal(run, running, progress)));
      progress.start("Finished", checks.size(), "checks");
      return run.run(
          checks,
          parallel,
          result -> {
            progress.print("  " + Report.summary(result));
            progress.step(true);
          });
    } finally {
      running.set(false);
    }
  }

  /** The file of {@code --junit}, refused before the run if it cannot be written after it. */
  private Path writable(Path named) {
    Path file = shell.file(named);
    Path parent = file.getParent();
    if (Files.isDirectory(file) || parent == null || !Files.isWritable(parent)) {
      throw Failure.usage("--junit: " + named + " (expected: a file in a writable directory)");
    }
    return file;
  }

  /** So that no earlier report looks like that of a run which is killed. */
  private void begin(Path file) {
    try {
      JunitXml.writeUnfinished("The run did not finish.", file);
    } catch (IOException e) {
      throw Failure.usage(
          "--junit: " + junit.orElse(file) + " (expected: a file that can be written)");
    }
  }

  private interface Writing {
    void write(Path file) throws IOException;
  }

  private static void write(Path file, Writing writing) {
    try {
      writing.write(file);
    } catch (IOException e) {
      throw Failure.of("Cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  private static String about(Duration time) {
    return time.toSeconds() < 90
        ? time.toSeconds() + " s"
        : Math.round(time.toSeconds() / 60.0) + " minutes";
  }

  private List<Check> checks() {
    List<Check> all = Verification.allChecks();
    List<String> known = all.stream().map(Check::name).toList();
    for (String name : names) {
      if (!known.contains(name)) {
        throw Failure.usage(
            "--check: " + name + " (expected: one of " + String.join(", ", known) + ")");
      }
    }
    return all.stream().filter(check -> names.isEmpty() || names.contains(check.name())).toList();
  }

  private Deployment deployment(Outputs outputs) {
    Api control = tollgate.controlPlane();
    if (!outputs.hasSessions()) {
      return attached(control, outputs);
    }
    Map<String, Api> byTenant = new ConcurrentHashMap<>();
    return new HttpDeployment(
        control,
        tenant -> byTenant.computeIfAbsent(tenant, id -> tollgate.sessions(token(id))),
        outputs.sockets());
  }

  private Deployment attached(Api control, Outputs outputs) {
    String query =
        handshake
            .filter(AttachedDeployment::isQuery)
            .orElseThrow(
                () ->
                    Failure.usage(
                        "--handshake: %s (expected: the query of a handshake at the API that Tollgate is attached to, such as 'workspace=TENANT&user=verify')"
                            .formatted(handshake.orElse("missing"))));
    if (AttachedDeployment.needsToken(query) && tokenCommand.isEmpty()) {
      throw Failure.usage("--handshake: TOKEN needs the option --token-command");
    }
    return new AttachedDeployment(
        new HttpDeployment(control, tenant -> control, outputs.sockets()),
        query,
        tenant -> token(tenant).orElseThrow());
  }

  private Optional<String> token(String tenantId) {
    return tokenCommand.map(
        command ->
            new TokenCommand(command, shell.directory(), TokenCommand.LIMIT).token(tenantId));
  }

  /** Six random characters, so that runs do not meet each other's tenants. */
  private static String randomName() {
    return new SecureRandom()
        .ints(6, 0, 36)
        .mapToObj(digit -> Integer.toString(digit, 36))
        .collect(Collectors.joining())
        .toLowerCase(Locale.ROOT);
  }

  /** Runs when the JVM ends during a run, for example after Ctrl-C. */
  private void removeAfterSignal(Verification run, AtomicBoolean running, Progress progress) {
    if (!running.get()) {
      return;
    }
    progress.close();
    shell.printError("Removing " + run.leftToRemove() + " tenants and tiers …");
    List<String> left = run.removeAll();
    shell.printError(
        left.isEmpty() ? "All were removed." : "Not removed: " + String.join(", ", left));
  }
}
