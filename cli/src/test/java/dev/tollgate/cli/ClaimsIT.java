package dev.tollgate.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.terminal.Shell;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the program of {@code docs/how-to/claim-tokens.md} as that page says, against {@code
 * ./tollgate up}.
 */
@Tag("nightly")
final class ClaimsIT {
  private static final Path CLIENT = Path.of("..", "clients", "claims", "target");

  @TempDir private Path directory;

  @Test
  void the_documented_program_claims_tokens_from_a_local_cloud() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "how-to", "claim-tokens.md"));
    Path program = directory.resolve("SendEmail.java");
    Files.writeString(program, block(page, "java", "TollgateClient.fromEnvironment()"));
    Path tier = directory.resolve("gold.yaml");
    Files.writeString(tier, block(page, "yaml", "send-email"));
    Path assembly = Path.of("..", "infra", "target", "cdk.out").toAbsolutePath();
    List<String> answers = new ArrayList<>();

    run(
        () -> {
          assertThat(run(() -> {}, "tiers", "apply", tier.toString())).isZero();
          assertThat(run(() -> {}, "tenants", "onboard", "initech", "--tier", "gold")).isZero();
          answers.add(output(program));
          answers.add(output(program));
        },
        "up",
        "--port",
        "0",
        "--assembly",
        assembly.toString());

    assertThat(answers.get(0)).isEqualTo("3 emails are on their way\n");
    assertThat(answers.get(1)).startsWith("Come back at 20");
  }

  private static String block(String page, String language, String with) {
    Matcher blocks = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page);
    return blocks
        .results()
        .map(block -> block.group(1))
        .filter(block -> block.contains(with))
        .findFirst()
        .orElseThrow();
  }

  /** Runs a command, and an action while the command waits to be interrupted. */
  private int run(ConcurrentAction concurrent, String... arguments) {
    PrintWriter nowhere = new PrintWriter(new StringWriter());
    Shell shell =
        new Shell(
            new ByteArrayInputStream(new byte[0]),
            nowhere,
            nowhere,
            directory,
            Optional.of(directory),
            Map.of("XDG_CONFIG_HOME", directory.toString()),
            Optional.empty(),
            System::nanoTime,
            time -> {
              if (time.compareTo(Duration.ofDays(1)) < 0) {
                Thread.sleep(time.toMillis());
                return;
              }
              try {
                concurrent.run();
              } catch (IOException failure) {
                throw new AssertionError(failure);
              }
              throw new InterruptedException("Ctrl-C");
            });
    return Main.commandLine(shell, InProcessCloud::start, arguments).execute(arguments);
  }

  /** Runs a program with the environment that the local cloud wrote. */
  private String output(Path program) throws IOException, InterruptedException {
    String classPath =
        CLIENT.resolve("tollgate-client.jar").toAbsolutePath()
            + File.pathSeparator
            + Files.readString(CLIENT.resolve("classpath"));
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            classPath,
            program.toString());
    Map<String, String> environment = java.environment();
    environment.keySet().removeIf(name -> name.startsWith("AWS_"));
    Files.readAllLines(directory.resolve(".tollgate").resolve("claims.env")).stream()
        .map(line -> line.split("=", 2))
        .forEach(variable -> environment.put(variable[0], variable[1]));
    java.redirectErrorStream(true);
    Process process = java.start();
    process.getOutputStream().close();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    assertThat(process.waitFor()).as(output).isZero();
    // The SDK warns that no logging is configured.
    return output
        .lines()
        .filter(line -> !line.startsWith("SLF4J"))
        .reduce("", (a, b) -> a + b + "\n");
  }

  /** An action while a command runs. */
  @FunctionalInterface
  private interface ConcurrentAction {
    void run() throws IOException, InterruptedException;
  }
}
