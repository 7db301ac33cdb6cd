package dev.tollgate.e2e.local;

import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.regions.Region;

/** A local cloud in a process of its own, which a test can kill. */
final class CloudProcess {
  private static final String READY = "ready";

  private final Process process;
  private final Map<String, String> outputs;

  private CloudProcess(Process process, Map<String, String> outputs) {
    this.process = process;
    this.outputs = outputs;
  }

  /**
   * Runs the cloud.
   *
   * <p>The arguments are the assembly, the data directory and the log file.
   */
  @SuppressWarnings("SystemOut") // the test reads this line
  public static void main(String[] arguments) throws InterruptedException {
    LocalCloud cloud =
        LocalCloud.start(
            new Options(
                Path.of(arguments[0]),
                "127.0.0.1",
                0,
                Optional.of(Path.of(arguments[1])),
                Optional.of(Path.of(arguments[2])),
                Map.of(),
                InstantSource.system()));
    AccessKey key = cloud.accessKey("test");
    Map<String, String> outputs = new HashMap<>(cloud.outputs());
    outputs.put("endpoint", cloud.endpoint().toString());
    outputs.put("id", key.accessKeyId());
    outputs.put("secret", key.secretAccessKey());
    outputs.put("token", key.sessionToken());
    outputs.forEach((name, value) -> System.out.println(name + " " + value));
    System.out.println(READY);
    new CountDownLatch(1).await();
  }

  /** Starts the process and waits until the cloud is up. */
  static CloudProcess start(Path assembly, Path data, Path log) throws IOException {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:+UnlockDiagnosticVMOptions",
                "-XX:-BytecodeVerificationRemote",
                "-Djava.util.concurrent.ForkJoinPool.common.parallelism=16",
                "-cp",
                System.getProperty("java.class.path"),
                CloudProcess.class.getName(),
                assembly.toString(),
                data.toString(),
                log.toString()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    // A test that fails before it kills the process must not leave it running.
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    Map<String, String> outputs = new HashMap<>();
    BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    String line = out.readLine();
    while (line != null && !line.equals(READY)) {
      String[] parts = line.split(" ", 2);
      outputs.put(parts[0], parts.length == 2 ? parts[1] : "");
      line = out.readLine();
    }
    if (line == null) {
      throw new IllegalStateException("the cloud did not start: " + outputs);
    }
    return new CloudProcess(process, outputs);
  }

  /** Kills the process like {@code kill -9}: without any cleanup. */
  void kill() throws InterruptedException {
    process.destroyForcibly();
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the cloud outlives its kill");
    }
  }

  /** The value of an output of the stack. */
  String output(String name) {
    return outputs.getOrDefault(name, "");
  }

  <B extends AwsClientBuilder<B, C>, C> C client(B builder) {
    return builder
        .endpointOverride(URI.create(output("endpoint")))
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(output("id"), output("secret"), output("token"))))
        .build();
  }
}
