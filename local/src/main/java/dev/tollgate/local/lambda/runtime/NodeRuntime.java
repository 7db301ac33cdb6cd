package dev.tollgate.local.lambda.runtime;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/** Lambda's runtime for functions in Node, with the Node of this machine. */
public final class NodeRuntime {
  private static final String BOOTSTRAP = "node-runtime.mjs";

  private NodeRuntime() {}

  /** Whether this machine has Node on its {@code PATH}. */
  public static boolean isInstalled() {
    return Stream.of(path().split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty())
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, "node")));
  }

  private static String path() {
    return System.getenv().getOrDefault("PATH", "");
  }

  static List<String> command() {
    return List.of("node", Bootstrap.FILE.toString());
  }

  static Map<String, String> variables(FunctionSpec function, Map<String, String> environment)
      throws IOException {
    Map<String, String> variables = new HashMap<>(environment);
    variables.put("PATH", path());
    variables.put("_HANDLER", function.handler());
    variables.put("LAMBDA_TASK_ROOT", Packages.unpacked(function.code()).toString());
    variables.put("AWS_EXECUTION_ENV", "AWS_Lambda_" + function.runtime());
    variables.put("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
    variables.put("TZ", ":UTC");
    return variables;
  }

  /** The script, once for this process. */
  private static final class Bootstrap {
    private static final Path FILE = file();

    private static Path file() {
      try (InputStream script =
          Objects.requireNonNull(NodeRuntime.class.getResourceAsStream(BOOTSTRAP))) {
        Path file = Files.createTempFile("tollgate", BOOTSTRAP);
        file.toFile().deleteOnExit();
        Files.copy(script, file, StandardCopyOption.REPLACE_EXISTING);
        return file;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
