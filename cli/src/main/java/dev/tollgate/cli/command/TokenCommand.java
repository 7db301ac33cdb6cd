package dev.tollgate.cli.command;

import dev.tollgate.cli.http.Failure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A shell command that prints a token of a tenant. Its output is a secret, which no message
 * repeats.
 *
 * @param limit until the output must be complete
 */
record TokenCommand(String command, Path directory, Duration limit) {
  static final Duration LIMIT = Duration.ofSeconds(30);

  /**
   * Runs the command.
   *
   * @throws Failure if it fails, prints nothing, or takes too long
   */
  String token(String tenantId) {
    ProcessBuilder shellCommand =
        new ProcessBuilder("/bin/sh", "-c", command)
            .directory(directory.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT);
    shellCommand.environment().put("TENANT", tenantId);
    try {
      Process process = shellCommand.start();
      try {
        return token(tenantId, process);
      } finally {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String token(String tenantId, Process process) {
    String failed = "--token-command: no token for tenant " + tenantId;
    try {
      String printed =
          CompletableFuture.supplyAsync(() -> output(process))
              .get(limit.toMillis(), TimeUnit.MILLISECONDS);
      // The output is complete, but the command may go on.
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw Failure.of(failed + " within " + limit.toSeconds() + " s");
      }
      if (process.exitValue() != 0 || printed.isBlank()) {
        throw Failure.of(failed + " (exit code " + process.exitValue() + ")");
      }
      return printed.strip();
    } catch (TimeoutException e) {
      throw Failure.of(failed + " within " + limit.toSeconds() + " s", e);
    } catch (ExecutionException e) {
      throw Failure.of(failed + ": its output cannot be read", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }

  private static String output(Process process) {
    try {
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
