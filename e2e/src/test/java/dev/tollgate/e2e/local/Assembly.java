package dev.tollgate.e2e.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The CDK app, synthesized with other context values than the default. */
final class Assembly {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final ObjectMapper JSON = new ObjectMapper();

  static final int LOW_BURST = 10;

  private Assembly() {}

  private static void throttle(JsonNode stage, String route) {
    ((ObjectNode) stage)
        .withObject("/Properties/RouteSettings")
        .putObject(route)
        .put("ThrottlingRateLimit", 1)
        .put("ThrottlingBurstLimit", LOW_BURST);
  }

  /**
   * The stack without event source mappings, so that messages stay in the queues, and with low
   * throttles of the route {@code SiloSQS} and of the pages: {@link #LOW_BURST} at once and one a
   * second.
   *
   * @return the directory
   */
  static Path withoutEventSources(Path directory) throws IOException {
    Path original = ROOT.resolve("infra/target/cdk.out");
    ObjectNode template =
        (ObjectNode) JSON.readTree(original.resolve("Tollgate.template.json").toFile());
    template
        .get("Resources")
        .elements()
        .forEachRemaining(
            resource -> {
              if (resource.path("Type").asText().equals("AWS::Lambda::EventSourceMapping")) {
                ((ObjectNode) resource).put("Condition", "Never");
              } else if (resource.at("/Properties/StageName").asText().equals("production")) {
                throttle(resource, "SiloSQS");
              } else if (resource.at("/Properties/RouteSettings").has("$default")) {
                throttle(resource, "$default");
              }
            });
    template.withObject("/Conditions").putObject("Never").putArray("Fn::Equals").add("a").add("b");
    JSON.writeValue(directory.resolve("Tollgate.template.json").toFile(), template);
    ObjectNode assets =
        (ObjectNode) JSON.readTree(original.resolve("Tollgate.assets.json").toFile());
    for (JsonNode file : assets.get("files")) {
      ObjectNode source = (ObjectNode) file.get("source");
      source.put("path", original.resolve(source.get("path").asText()).toString());
    }
    JSON.writeValue(directory.resolve("Tollgate.assets.json").toFile(), assets);
    return directory;
  }

  /** The stack whose functions share credentials, with all that the build gives it. */
  static Path sharingCredentials() {
    try {
      return synthesize(
          Files.createTempDirectory(Path.of("target"), "sharing-").toAbsolutePath(),
          Map.of(
              "shareCredentials", "true",
              "lab", "true",
              "alarmTopic", "arn:aws:sns:us-east-1:000000000000:alarms"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Synthesizes the stack, like {@code npx aws-cdk synth -c name=value … --output directory}. The
   * tests of {@code infra} validate the template.
   *
   * @return the directory
   */
  static Path synthesize(Path directory, Map<String, String> context)
      throws IOException, InterruptedException {
    ProcessBuilder synth =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
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
                "CDK_OUTDIR",
                directory.toString(),
                "CDK_CONTEXT_JSON",
                JSON.writeValueAsString(context),
                "CDK_VALIDATION",
                "false",
                "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION",
                "20"));
    Process process = synth.start();
    if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
      throw new AssertionError(Files.readString(directory.resolve("synth.log")));
    }
    return directory;
  }
}
