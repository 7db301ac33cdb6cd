package dev.tollgate.local.endtoend;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The CDK app, synthesized with context values of a test's own. */
final class Assembly {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private Assembly() {}

  /**
   * Synthesizes the stack, as {@code npx aws-cdk synth -c name=value … --output directory} would.
   *
   * @return the directory
   */
  static Path synthesize(Path directory, Map<String, String> context)
      throws IOException, InterruptedException {
    ProcessBuilder synth =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                ROOT.resolve("infra/target/classes")
                    + File.pathSeparator
                    + Files.readString(ROOT.resolve("infra/target/classpath")),
                "dev.tollgate.infra.TollgateApp")
            .directory(ROOT.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("synth.log").toFile());
    synth
        .environment()
        .putAll(
            Map.of(
                "CDK_OUTDIR", directory.toString(),
                "CDK_CONTEXT_JSON", new ObjectMapper().writeValueAsString(context),
                "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20"));
    Process process = synth.start();
    if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
      throw new AssertionError(Files.readString(directory.resolve("synth.log")));
    }
    return directory;
  }
}
