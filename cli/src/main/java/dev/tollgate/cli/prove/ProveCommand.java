package dev.tollgate.cli.prove;

import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.prove.account.Stacks;
import dev.tollgate.cli.terminal.Shell;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code tollgate prove}. */
@Command(
    name = "prove",
    description = {
      "Prove on an AWS account that this version works there: read the account's settings, ask AWS"
          + " what its documentation leaves open, deploy the stack under a name of its own, run"
          + " `verify` and `doctor`, attack it, load it for a minute, and delete everything.",
      "Takes about 45 minutes and says before each step what it costs, together at most $2. Ctrl-C deletes everything;"
          + " after two hours the account does so by itself. After an error, the same command goes"
          + " on where it ended; a rehearsal begins again.",
      "Needs a checkout, and npx. Exit code 1 if a promise fails or, on AWS, could not be tried.",
      "Example: `tollgate prove --rehearse` tries all of this on this machine first."
    })
public final class ProveCommand implements Callable<Integer> {
  private static final Pattern PREFIX = Pattern.compile("[a-z][a-z0-9]{0,5}_");

  private final CommandEnvironment tollgate;
  private final Shell shell;
  private final StacksFactory factory;
  private final InstantSource clock;

  @Option(names = "--rehearse", description = "Do all steps on this machine, without an account.")
  private boolean rehearse;

  @Option(
      names = "--prefix",
      paramLabel = "PREFIX",
      description =
          "Begins the names of all that is created: a letter, up to five letters and digits, and an"
              + " underscore. Default: ${DEFAULT-VALUE}.")
  private String prefix = "prove_";

  @Option(
      names = "--account",
      paramLabel = "NUMBER",
      description = "Do not ask for confirmation if the credentials are of this account.")
  private Optional<String> account = Optional.empty();

  @Option(
      names = "--budget-email",
      paramLabel = "ADDRESS",
      description = "Create a budget of $5 whose alarm goes to this address, for the run's time.")
  private Optional<String> email = Optional.empty();

  @Option(
      names = "--tenants",
      paramLabel = "N",
      description = "Tenants of the load minute. Default: ${DEFAULT-VALUE}.")
  private int tenants = 200;

  @Option(
      names = "--handshakes",
      paramLabel = "N",
      description = "Handshakes of the load minute. Default: ${DEFAULT-VALUE}.")
  private int handshakes = 500;

  @Option(
      names = "--parallel",
      paramLabel = "N",
      description = "Checks of `verify` that run at once. Default: ${DEFAULT-VALUE}.")
  private int parallel = 4;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Where the run keeps its report, its logs and what it needs to go on. Default:"
              + " .tollgate/prove-PREFIX; of a rehearsal, .tollgate/rehearsal.")
  private Optional<Path> directory = Optional.empty();

  @Option(
      names = "--answers",
      paramLabel = "DIR",
      description = "The recorded answers to compare with. Default: docs/aws-answers.")
  private Optional<Path> answers = Optional.empty();

  @Option(names = "--teardown", description = "Only delete what a run of this prefix created.")
  private boolean teardown;

  @Option(
      names = "--bill",
      description =
          "Show what AWS billed in the Region on the days of the last run, which is known a day"
              + " later. Costs a cent.")
  private boolean bill;

  /** Opens an account. */
  public interface StacksFactory {
    /** Local clouds in this process, whose files go to a directory. */
    Stacks rehearsal(Path directory);

    /** AWS, as the common options say. */
    Stacks aws(Path directory);
  }

  /**
   * @param tollgate the common options and the output
   * @param clock the present, by which a run expires
   */
  public ProveCommand(
      CommandEnvironment tollgate, Shell shell, StacksFactory factory, InstantSource clock) {
    this.tollgate = tollgate;
    this.shell = shell;
    this.factory = factory;
    this.clock = clock;
  }

  @Override
  public Integer call() {
    Failure.checkOption(
        PREFIX.matcher(prefix).matches() && !prefix.equals("silo_"),
        "--prefix",
        prefix,
        "a letter, up to five letters and digits, and an underscore; not silo_");
    Failure.checkOption(tenants >= 1 && tenants <= 1_000, "--tenants", tenants, "1 to 1000");
    Failure.checkOption(
        handshakes >= 1 && handshakes <= 10_000, "--handshakes", handshakes, "1 to 10000");
    Failure.checkOption(parallel >= 1 && parallel <= 16, "--parallel", parallel, "1 to 16");
    Path checkout = shell.home().orElse(shell.directory());
    if (!Files.exists(checkout.resolve("cdk.json"))) {
      throw Failure.usage(
          checkout
              + " has no cdk.json: `prove` deploys from a checkout of Tollgate, not a release");
    }
    refuseProduction();
    Path own =
        directory
            .map(shell::file)
            .orElseGet(
                () ->
                    checkout
                        .resolve(".tollgate")
                        .resolve(rehearse ? "rehearsal" : "prove-" + prefix));
    Run.Settings settings =
        new Run.Settings(
            prefix,
            own,
            answers
                .map(shell::file)
                .orElseGet(() -> checkout.resolve("docs").resolve("aws-answers")),
            email,
            tenants,
            handshakes,
            parallel);
    RunLock lock = RunLock.of(own);
    try (Stacks stacks = rehearse ? factory.rehearsal(own) : factory.aws(own)) {
      return run(Run.open(settings, shell, stacks, clock, !bill && !teardown));
    } finally {
      lock.close();
    }
  }

  /** Refuses a prefix whose stack a context marks as production. */
  private void refuseProduction() {
    String stack = "Tollgate-" + prefix.replace("_", "");
    ContextFile.read(shell.configuration()).contexts().values().stream()
        .filter(context -> context.production() && context.stack().equals(stack))
        .findAny()
        .ifPresent(
            context -> {
              throw Failure.usage(
                  "Context %s is the production deployment %s. Choose another --prefix."
                      .formatted(context.name(), stack));
            });
  }

  private int run(Run run) {
    if (bill) {
      Bill result = run.bill();
      tollgate.print(result.document(), result.lines());
      return 0;
    }
    Proof proof = new Proof(run);
    if (!teardown) {
      confirm(run, proof);
    }
    Report report = guarded(run, proof);
    tollgate.print(report.document(), report.lines());
    shell.printError(
        "The report is in " + shell.shown(run.settings().directory().resolve("report.md")) + ".");
    if (rehearse) {
      shell.printError(
          "Nothing else is left: the local clouds ended with this command."
              + (report.passed() ? " Next: `./tollgate prove` does the same on AWS." : ""));
    }
    return report.passed() ? 0 : ExitCode.FAILED;
  }

  private void confirm(Run run, Proof proof) {
    proof.plan().forEach(shell::printError);
    if (run.stacks().areLocal() || account.equals(Optional.of(run.account()))) {
      return;
    }
    if (account.isPresent()) {
      throw Failure.usage(
          "--account: %s (expected: %s, that of the credentials)"
              .formatted(account.get(), run.account()));
    }
    String prompt =
        "Account %s, Region %s. Type the account number to begin:"
            .formatted(run.account(), run.stacks().account().region());
    String reply =
        shell
            .terminal()
            .orElseThrow(
                () ->
                    Failure.usage(
                        "Cannot ask for confirmation without a terminal. Use --account NUMBER."))
            .ask()
            .apply(prompt)
            .strip();
    if (!reply.equals(run.account())) {
      throw Failure.of("Cancelled. Nothing was created.");
    }
  }

  /** Does the steps; after Ctrl-C, deletes everything before the JVM ends. */
  private Report guarded(Run run, Proof proof) {
    Thread command = Thread.currentThread();
    CountDownLatch stopping = new CountDownLatch(1);
    CountDownLatch ended = new CountDownLatch(1);
    Thread hook =
        new Thread(
            () -> {
              if (ended.getCount() > 0) {
                stopping.countDown();
                shell.printError(
                    "Stopping. The teardown follows and takes some minutes. A second Ctrl-C does not end"
                        + " it; `kill -9 %d` does, and `tollgate prove%s --teardown` goes on with it."
                            .formatted(
                                ProcessHandle.current().pid(),
                                options().map(it -> " " + it).orElse("")));
                command.interrupt();
                awaitEnd(ended);
              }
            },
            "tollgate-prove-stop");
    Runtime.getRuntime().addShutdownHook(hook);
    try {
      return teardown ? proof.teardown() : proof.all();
    } catch (RuntimeException failure) {
      if (!isStopping(stopping)) {
        throw notFinished(proof, failure);
      }
      try {
        return proof.teardown();
      } catch (RuntimeException again) {
        throw notFinished(proof, again);
      }
    } finally {
      ended.countDown();
    }
  }

  private Failure notFinished(Proof proof, RuntimeException failure) {
    return proof.notFinished(
        failure instanceof Failure known ? known : Failure.of(failure.toString(), failure),
        options());
  }

  /**
   * Whether the user has stopped the command. Ctrl-C also ends the processes of a step, whose
   * failure may be noticed first.
   */
  private static boolean isStopping(CountDownLatch stopping) {
    // The teardown sleeps and waits.
    boolean interrupted = Thread.interrupted();
    try {
      return stopping.await(1, TimeUnit.SECONDS) || interrupted;
    } catch (InterruptedException e) {
      return true;
    }
  }

  private Optional<String> options() {
    return rehearse
        ? Optional.of("--rehearse")
        : Optional.of(prefix).filter(it -> !it.equals("prove_")).map(it -> "--prefix " + it);
  }

  private static void awaitEnd(CountDownLatch ended) {
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
