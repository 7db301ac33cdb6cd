package dev.tollgate.cli.local;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.prove.account.Stacks;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;

/** Runs each stack in a local cloud of its own, for a rehearsal. */
public final class LocalStacks implements Stacks {
  private static final String APP = "dev.tollgate.infra.TollgateApp";

  private final Cloud.Starter starter;
  private final Path checkout;
  private final Path directory;
  private final Map<String, Cloud> clouds = new LinkedHashMap<>();

  /**
   * @param checkout the directory with {@code cdk.json}, in which the CDK app is built
   * @param directory where the synthesized apps and the logs go
   */
  public LocalStacks(Cloud.Starter starter, Path checkout, Path directory) {
    this.starter = starter;
    this.checkout = checkout;
    this.directory = directory;
  }

  @Override
  public boolean areLocal() {
    return true;
  }

  /** The account of no stack: a cloud with the synthesized stack of {@code tollgate up}. */
  @Override
  public Account account() {
    Cloud any =
        clouds.computeIfAbsent(
            "", unused -> start("", checkout.resolve(Path.of("infra", "target", "cdk.out"))));
    return account(any);
  }

  @Override
  public Account account(String name) {
    return account(
        Optional.ofNullable(clouds.get(name))
            .orElseThrow(
                () ->
                    Failure.of(
                        "The local cloud of %s has ended with an earlier run. Begin again with"
                                .formatted(name)
                            + " --teardown.")));
  }

  @Override
  public void deploy(String name, String runId, Map<String, String> context, Path outputs) {
    Path assembly = directory.resolve(name).resolve("cdk.out");
    synthesize(assembly, context, directory.resolve(name).resolve("synth.log"));
    destroy(name, runId, context);
    Cloud cloud = start(name, assembly);
    clouds.put(name, cloud);
    cloud.writeOutputs(outputs);
  }

  @Override
  public void destroy(String name, String runId, Map<String, String> context) {
    Optional.ofNullable(clouds.remove(name)).ifPresent(Cloud::close);
  }

  private Cloud start(String name, Path assembly) {
    Path log = directory.resolve(name).resolve("cloud.log");
    try {
      Files.createDirectories(directory.resolve(name));
    } catch (IOException e) {
      throw Failure.of("Cannot create " + directory.resolve(name) + ": " + e, e);
    }
    return starter.start(
        new Cloud.Settings(
            assembly,
            "127.0.0.1",
            0,
            Set.of(),
            log,
            Optional.empty(),
            Map.of(),
            true,
            Optional.empty(),
            Optional.empty()));
  }

  private static Account account(Cloud cloud) {
    Map<String, String> environment = cloud.environmentOfAdministrator("prove");
    URI endpoint = URI.create(environment.getOrDefault("AWS_ENDPOINT_URL", ""));
    return new AwsAccount(
        (service, region) -> endpoint,
        environment.getOrDefault("AWS_REGION", ""),
        StaticCredentialsProvider.create(
            AwsSessionCredentials.create(
                environment.getOrDefault("AWS_ACCESS_KEY_ID", ""),
                environment.getOrDefault("AWS_SECRET_ACCESS_KEY", ""),
                environment.getOrDefault("AWS_SESSION_TOKEN", ""))));
  }

  /** Runs the CDK app as the CDK's command line does, which needs Node and the build of the app. */
  private void synthesize(Path assembly, Map<String, String> context, Path log) {
    Path infra = checkout.resolve(Path.of("infra", "target"));
    ObjectNode values = Json.object(context);
    try {
      Files.createDirectories(assembly);
      String classpath =
          infra.resolve("classes")
              + java.io.File.pathSeparator
              + Files.readString(infra.resolve("classpath")).strip();
      ProcessBuilder app =
          new ProcessBuilder(
                  Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                  "-XX:TieredStopAtLevel=1",
                  "-cp",
                  classpath,
                  APP)
              .directory(checkout.toFile())
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      app.environment()
          .putAll(
              Map.of(
                  "CDK_OUTDIR", assembly.toString(),
                  "CDK_CONTEXT_JSON", Json.write(values),
                  "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20"));
      int code = app.start().waitFor();
      if (code != 0) {
        throw Failure.of(
            "The stack cannot be synthesized (exit code %d): %s"
                .formatted(code, Files.readString(log)));
      }
    } catch (IOException e) {
      throw Failure.of("Cannot synthesize the stack: " + e + ". Build it: `mvn package`.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }

  @Override
  public void close() {
    clouds.values().forEach(Cloud::close);
    clouds.clear();
  }
}
