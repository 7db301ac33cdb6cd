package dev.tollgate.client.js;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs Node in the module's directory. */
final class Node {
  private Node() {}

  /** The result of a run. */
  record Result(int status, String output) {}

  /** Runs Node to its end. Everything it prints is in the result. */
  static Result run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("node"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command).directory(Path.of("").toAbsolutePath().toFile());
    builder.environment().putAll(environment);
    Process process = builder.redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return new Result(process.waitFor(), output);
  }
}
