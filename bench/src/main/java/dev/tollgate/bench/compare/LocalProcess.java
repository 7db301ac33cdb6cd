package dev.tollgate.bench.compare;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** A local cloud in a process of its own, started by {@code ./tollgate up}. */
final class LocalProcess implements AutoCloseable {
  private static final Duration STARTED = Duration.ofMinutes(10);

  private final Process process;
  private final Path directory;

  private LocalProcess(Process process, Path directory) {
    this.process = process;
    this.directory = directory;
  }

  /**
   * Starts a cloud, and waits for it.
   *
   * @param plan the name of a plan of faults in {@code bench/plans}; with one, AWS requests are
   *     written to {@link #requests}
   * @throws IllegalStateException if it does not start
   */
  static LocalProcess start(Path directory, Optional<String> plan) throws InterruptedException {
    try {
      Files.createDirectories(directory);
      Files.deleteIfExists(directory.resolve("outputs.json"));
      List<String> command =
          new ArrayList<>(
              List.of(
                  "./tollgate",
                  "up",
                  "--port",
                  "0",
                  "--no-iam",
                  "--outputs",
                  directory.resolve("outputs.json").toString()));
      plan.ifPresent(
          name ->
              command.addAll(
                  List.of(
                      "--faults",
                      "bench/plans/" + name + ".yaml",
                      "--requests",
                      directory.resolve("requests.jsonl").toString())));
      LocalProcess cloud =
          new LocalProcess(
              new ProcessBuilder(command)
                  .redirectErrorStream(true)
                  .redirectOutput(directory.resolve("up.out").toFile())
                  .start(),
              directory);
      cloud.await();
      return cloud;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void await() throws IOException, InterruptedException {
    long end = System.nanoTime() + STARTED.toNanos();
    while (!Files.exists(outputs())) {
      if (!process.isAlive() || System.nanoTime() > end) {
        close();
        throw new IllegalStateException(
            "The local cloud did not start: " + Files.readString(directory.resolve("up.out")));
      }
      var unused = process.waitFor(100, TimeUnit.MILLISECONDS);
    }
  }

  Path outputs() {
    return directory.resolve("outputs.json");
  }

  Path requests() {
    return directory.resolve("requests.jsonl");
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(20, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
