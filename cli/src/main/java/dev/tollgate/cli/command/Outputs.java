package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The outputs of one stack, from a file in the shape of {@code cdk deploy --outputs-file}: {@code
 * {"Tollgate":{"SessionURL":"https://…"}}}.
 */
public record Outputs(Path file, String stack, Map<String, String> values) {
  /** Where {@code tollgate up} leaves them. */
  public static final Path DEFAULT = Path.of(".tollgate", "outputs.json");

  public Outputs {
    values = Map.copyOf(values);
  }

  /** The default file: upwards from the current directory, then beside the launcher. */
  static Path find(Shell shell) {
    return Stream.concat(
            Stream.<Optional<Path>>iterate(
                    Optional.of(shell.directory()),
                    Optional::isPresent,
                    directory -> directory.map(Path::getParent))
                .flatMap(Optional::stream),
            shell.home().stream())
        .map(directory -> directory.resolve(DEFAULT))
        .filter(Files::isRegularFile)
        .findFirst()
        .orElseThrow(
            () ->
                Failure.of(
                    "No "
                        + DEFAULT
                        + " here or above. Start a local cloud with `./tollgate up`, or name the"
                        + " file that `cdk deploy --outputs-file FILE` wrote: --outputs FILE"));
  }

  /**
   * Reads the outputs of a stack.
   *
   * @param stack its name; not needed when only one stack in the file is a Tollgate
   * @throws Failure if there is no such file or stack
   */
  static Outputs read(Path file, Optional<String> stack) {
    String text;
    try {
      text = Files.readString(file);
    } catch (IOException e) {
      throw Failure.unreadable("--outputs: " + file, e);
    }
    Map<String, JsonNode> stacks = new LinkedHashMap<>();
    Json.read("--outputs: " + file, text).properties().stream()
        .filter(
            entry -> stack.map(entry.getKey()::equals).orElse(entry.getValue().has("SessionURL")))
        .forEach(entry -> stacks.put(entry.getKey(), entry.getValue()));
    if (stacks.isEmpty()) {
      throw Failure.usage(
          stack
              .map(name -> "--stack: " + name + " (expected: a stack in " + file + ")")
              .orElse(file + " holds no outputs of a Tollgate stack"));
    }
    if (stacks.size() > 1) {
      throw Failure.usage(
          file
              + " holds several stacks; choose with --stack: "
              + String.join(", ", stacks.keySet()));
    }
    var only = stacks.entrySet().iterator().next();
    Map<String, String> values = new LinkedHashMap<>();
    only.getValue()
        .properties()
        .forEach(output -> values.put(output.getKey(), Json.text(output.getValue())));
    return new Outputs(file, only.getKey(), values);
  }

  /**
   * An output that is an address.
   *
   * @throws Failure if the stack has no such output
   */
  URI uri(String name) {
    return Optional.ofNullable(values.get(name))
        .map(URI::create)
        .orElseThrow(() -> Failure.of("Stack " + stack + " in " + file + " has no output " + name));
  }
}
