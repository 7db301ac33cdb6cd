package dev.tollgate.cli.prove.account;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Deploys to AWS with the CDK's command line, which needs Node. */
public final class CdkStacks implements Stacks {
  /** The version of the CDK's command line. */
  public static final String CDK = "2.1148.1";

  private final Account account;
  private final Shell shell;
  private final Path checkout;
  private final Path directory;
  private final Optional<String> profile;
  private final List<String> cdk;

  /**
   * @param checkout the directory with {@code cdk.json}
   * @param directory where the synthesized apps and the logs go
   */
  public CdkStacks(
      Account account, Shell shell, Path checkout, Path directory, Optional<String> profile) {
    this(account, shell, checkout, directory, profile, List.of("npx", "--yes", "aws-cdk@" + CDK));
  }

  /**
   * @param cdk the command line of the CDK
   */
  public CdkStacks(
      Account account,
      Shell shell,
      Path checkout,
      Path directory,
      Optional<String> profile,
      List<String> cdk) {
    this.account = account;
    this.shell = shell;
    this.checkout = checkout;
    this.directory = directory;
    this.profile = profile;
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
  public void deploy(String name, Map<String, String> context, Path outputs) {
    run(
        name,
        "deploy",
        List.of("--require-approval", "never", "--outputs-file", outputs.toString()),
        context);
  }

  @Override
  public void destroy(String name, Map<String, String> context) {
    run(name, "destroy", List.of("--force"), context);
  }

  private void run(String stack, String verb, List<String> options, Map<String, String> context) {
    List<String> command = new ArrayList<>(cdk);
    command.addAll(List.of(verb, "--all"));
    command.addAll(options);
    Path own = directory.resolve(stack);
    // The directory of cdk.json is that of `./tollgate up`.
    command.addAll(List.of("--output", own.resolve("cdk.out").toString()));
    new TreeMap<>(context)
        .forEach((key, value) -> command.addAll(List.of("-c", key + "=" + value)));
    profile.ifPresent(name -> command.addAll(List.of("--profile", name)));
    Path log = own.resolve(verb + ".log");
    try {
      Files.createDirectories(own);
      ProcessBuilder process =
          new ProcessBuilder(command)
              .directory(checkout.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
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
        cdk.destroy();
      }
    } catch (IOException e) {
      throw Failure.of("Cannot run npx, which deploys the stack: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
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
