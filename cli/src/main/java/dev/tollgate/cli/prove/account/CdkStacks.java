package dev.tollgate.cli.prove.account;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/** Deploys to AWS with the CDK's command line, which needs Node. */
public final class CdkStacks implements Stacks {
  /** The version of the CDK's command line. */
  public static final String CDK = "2.1148.1";

  /** The tag of stacks with the run that created them. */
  public static final String RUN = "tollgate-prove";

  /** Handles the signals before the child starts, because they may come at once. */
  private static final String DETACHED =
      """
      for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
      const [command, ...parameters] = process.argv.slice(1);
      process.on("SIGTERM", () => { try { process.kill(-child.pid, "SIGTERM"); } catch { /* It has ended. */ } });
      // After the handlers, or a signal in between would end this process alone.
      const child = require("node:child_process").spawn(command, parameters, {detached: true, stdio: "inherit"});
      child.on("error", (error) => { console.error(error.message); process.exit(127); });
      child.on("exit", (code) => process.exit(code ?? 1));
      """;

  private final Account account;
  private final Shell shell;
  private final Path checkout;
  private final Path directory;
  private final List<String> cdk;

  /**
   * @param checkout the directory with {@code cdk.json}
   * @param directory where the synthesized apps and the logs go
   */
  public CdkStacks(Account account, Shell shell, Path checkout, Path directory) {
    this(account, shell, checkout, directory, List.of("npx", "--yes", "aws-cdk@" + CDK));
  }

  /**
   * @param cdk the command line of the CDK
   */
  public CdkStacks(Account account, Shell shell, Path checkout, Path directory, List<String> cdk) {
    this.account = account;
    this.shell = shell;
    this.checkout = checkout;
    this.directory = directory;
    this.cdk = List.copyOf(cdk);
  }

  @Override
  public Account account() {
    return account;
  }

  @Override
  public Account account(String name) {
    return account;
  }

  @Override
  public boolean areLocal() {
    return false;
  }

  @Override
  public void deploy(String name, String runId, Map<String, String> context, Path outputs) {
    requireOwn(name, runId);
    run(
        name,
        "deploy",
        List.of(
            "--require-approval",
            "never",
            "--tags",
            RUN + "=" + runId,
            "--outputs-file",
            outputs.toString()),
        context);
  }

  @Override
  public void destroy(String name, String runId, Map<String, String> context) {
    requireOwn(name, runId);
    run(name, "destroy", List.of("--force"), context);
  }

  /** Somebody else may have created a stack of this name meanwhile. */
  private void requireOwn(String name, String runId) {
    AwsAccount.stack(account, name)
        .filter(description -> !description.contains("<Value>" + runId + "</Value>"))
        .ifPresent(
            description -> {
              throw Failure.of(
                  "Stack %s has no tag %s=%s, so this run did not create it. Choose another"
                          .formatted(name, RUN, runId)
                      + " --prefix.");
            });
  }

  /**
   * The command that runs another one in a session of its own: a terminal sends Ctrl-C to the whole
   * process group of {@code prove}, whose teardown must go on. It passes the exit code on, and
   * SIGTERM to the whole session; it ignores SIGINT and SIGHUP.
   */
  static List<String> detached(List<String> command) {
    List<String> all = new ArrayList<>(List.of("node", "-e", DETACHED, "--"));
    all.addAll(command);
    return all;
  }

  private void run(String stack, String verb, List<String> options, Map<String, String> context) {
    List<String> command = new ArrayList<>(detached(cdk));
    command.addAll(List.of(verb, "--all"));
    command.addAll(options);
    Path own = directory.resolve(stack);
    // The directory of cdk.json is that of `./tollgate up`.
    command.addAll(List.of("--output", own.resolve("cdk.out").toString()));
    new TreeMap<>(context)
        .forEach((key, value) -> command.addAll(List.of("-c", key + "=" + value)));
    Path log = own.resolve(verb + ".log");
    try {
      Files.createDirectories(own);
      ProcessBuilder process =
          new ProcessBuilder(command)
              .directory(checkout.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      // Another SDK may choose other credentials from a profile than those that were confirmed.
      process.environment().keySet().removeAll(List.of("AWS_PROFILE", "AWS_DEFAULT_PROFILE"));
      process.environment().putAll(account.credentials());
      process.environment().put("AWS_REGION", account.region());
      process.environment().put("AWS_DEFAULT_REGION", account.region());
      Process cdk = process.start();
      cdk.getOutputStream().close();
      try {
        int code = cdk.waitFor();
        if (code != 0) {
          throw Failure.of(
              "cdk %s of %s failed with exit code %d. The log is %s; its last lines:\n%s"
                  .formatted(verb, stack, code, shell.shown(log), tail(log)));
        }
      } finally {
        end(cdk);
      }
    } catch (IOException e) {
      throw Failure.of("Cannot run Node, which deploys the stack: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }

  /** Ends a process and those that it started, and waits for them: they might still deploy. */
  private static void end(Process process) {
    List<ProcessHandle> all =
        Stream.concat(process.descendants(), Stream.of(process.toHandle())).toList();
    all.forEach(ProcessHandle::destroy);
    for (ProcessHandle one : all) {
      try {
        one.onExit().get(10, TimeUnit.SECONDS);
      } catch (ExecutionException | TimeoutException e) {
        one.destroyForcibly();
      } catch (InterruptedException e) {
        one.destroyForcibly();
        Thread.currentThread().interrupt();
      }
    }
  }

  private static String tail(Path log) throws IOException {
    List<String> lines = Files.readAllLines(log);
    return String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
  }

  @Override
  public void close() {
    // Stacks stay until they are destroyed.
  }
}
