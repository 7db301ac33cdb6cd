package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows the steps of {@code docs/message-handler.md}. */
@Tag("nightly")
final class OwnHandlerIT {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  @TempDir private Path checkout;

  private static String block(String page, String language) {
    Matcher block = Pattern.compile("```" + language + "\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(block.find()).as("a block of %s", language).isTrue();
    return block.group(1);
  }

  private void run(Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    ProcessBuilder builder = new ProcessBuilder(command).directory(checkout.toFile());
    builder.environment().putAll(environment);
    File output = checkout.resolve("output").toFile();
    Process process = builder.redirectErrorStream(true).redirectOutput(output).start();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(output.toPath())).isZero();
  }

  @Test
  void a_custom_handler_replies_through_pool_and_silo() throws Exception {
    String page = Files.readString(ROOT.resolve("docs/message-handler.md"));
    for (String module :
        List.of(
            "message-handler", "handlers", "token-producer", "control-plane", "console", "infra")) {
      Files.createSymbolicLink(checkout.resolve(module), ROOT.resolve(module));
    }
    Files.createDirectories(checkout.resolve("heard"));
    Files.writeString(checkout.resolve("heard/Heard.java"), block(page, "java"));
    Files.writeString(checkout.resolve("cdk.json"), block(page, "json"));
    String javaBin = Path.of(System.getProperty("java.home"), "bin").toString();
    run(
        Map.of("PATH", javaBin + File.pathSeparator + System.getenv("PATH")),
        "bash",
        "-ec",
        block(page, "sh"));
    Path assembly = checkout.resolve("cdk.out");
    run(
        Map.of(
            "CDK_OUTDIR",
            assembly.toString(),
            "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION",
            "20"),
        Path.of(javaBin, "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-cp",
        "infra/target/classes"
            + File.pathSeparator
            + Files.readString(ROOT.resolve("infra/target/classpath")),
        "dev.tollgate.infra.TollgateApp");

    try (LocalDeployment deployment = LocalDeployment.of(assembly)) {
      deployment.onboard("loud", "gold", "{}");
      Deployment.Handshake client = deployment.connect("loud", deployment.open("loud"));
      client.send("{\"action\":\"PooledSQS\",\"id\":\"p\",\"message\":\"hello\"}");
      client.frames().await("reply", 1);
      client.send("{\"action\":\"SiloSQS\",\"id\":\"s\",\"message\":{\"a\":[true]}}");
      client.frames().await("reply", 2);
      assertThat(client.frames().of("reply"))
          .containsExactly(
              new ObjectMapper()
                  .readTree("{\"type\":\"reply\",\"id\":\"p\",\"message\":{\"heard\":\"hello\"}}"),
              new ObjectMapper()
                  .readTree(
                      "{\"type\":\"reply\",\"id\":\"s\",\"message\":{\"heard\":{\"a\":[true]}}}"));
      deployment.close(client);
    }
  }
}
