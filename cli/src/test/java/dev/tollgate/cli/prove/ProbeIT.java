package dev.tollgate.cli.prove;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.testing.TestCloud;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;

/** All questions to the probe stack on the local cloud, whose answers are those in the files. */
@Tag("nightly")
final class ProbeIT {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path ANSWERS = ROOT.resolve("docs/aws-answers");

  @TempDir private static Path directory;
  private static TestCloud cloud;
  private static final Map<String, Answer> SEEN = new TreeMap<>();

  @BeforeAll
  static void ask() throws Exception {
    synthesize();
    cloud =
        TestCloud.start(
            clock ->
                new Options(
                    directory,
                    "127.0.0.1",
                    0,
                    Optional.empty(),
                    Optional.of(Path.of("target/endtoend.log")),
                    Map.of(),
                    clock));
    Probe.ask(
        cloud.cloud().outputs(),
        LocalAccount.administrator(cloud),
        shell(),
        answer -> SEEN.put(answer.question(), answer));
  }

  @AfterAll
  static void stop() {
    cloud.close();
  }

  private static void synthesize() throws Exception {
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
                """
                {"probe":"true","prefix":"test_","deleteAt":"2099-01-01T00:00:00",
                 "budgetEmail":"me@example.com"}""",
                "CDK_VALIDATION",
                "false",
                "JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION",
                "20"));
    Process process = synth.start();
    if (!process.waitFor(5, TimeUnit.MINUTES) || process.exitValue() != 0) {
      throw new AssertionError(Files.readString(directory.resolve("synth.log")));
    }
  }

  private static Shell shell() {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    return new Shell(
        new ByteArrayInputStream(new byte[0]),
        nowhere,
        nowhere,
        directory,
        Optional.empty(),
        Map.of(),
        Optional.empty(),
        System::nanoTime,
        cloud::advance);
  }

  /** The local cloud as an account. */
  private record LocalAccount(URI endpoint, String region, AwsCredentialsProvider credentials)
      implements Account {
    private static LocalAccount administrator(TestCloud cloud) {
      AccessKey key = cloud.cloud().accessKey("prove");
      return new LocalAccount(
          cloud.cloud().endpoint(),
          "us-east-1",
          provider(key.accessKeyId(), key.secretAccessKey(), key.sessionToken()));
    }

    private static AwsCredentialsProvider provider(String id, String secret, String token) {
      return StaticCredentialsProvider.create(AwsSessionCredentials.create(id, secret, token));
    }

    @Override
    public Sender api(String service) {
      return new Api(
          Api.client(),
          endpoint,
          Optional.of(RequestSigner.forService(service, region, credentials)));
    }

    @Override
    public Account as(String role) {
      try (StsClient sts =
          StsClient.builder()
              .endpointOverride(endpoint)
              .region(Region.of(region))
              .credentialsProvider(credentials)
              .build()) {
        Credentials issued =
            sts.assumeRole(request -> request.roleArn(role).roleSessionName("prove")).credentials();
        return new LocalAccount(
            endpoint,
            region,
            provider(issued.accessKeyId(), issued.secretAccessKey(), issued.sessionToken()));
      }
    }
  }

  @Test
  void every_question_has_the_answer_in_its_file() {
    if (Boolean.getBoolean("answers.print")) {
      SEEN.values()
          .forEach(answer -> System.out.println(answer.question() + " " + answer.answer()));
    }
    RecordedAnswers recorded = RecordedAnswers.read(ANSWERS);
    assertThat(SEEN.keySet())
        .containsExactlyInAnyOrderElementsOf(
            Probe.questions().stream().map(Question::name).toList())
        .isEqualTo(recorded.byQuestion().keySet());
    SEEN.values()
        .forEach(answer -> assertThat(recorded.compare(answer)).as(answer.question()).isEmpty());
  }

  @Test
  void another_answer_is_reported_with_its_place() {
    Answer seen = SEEN.get("handshake-statuses");
    ObjectNode planted = seen.answer().deepCopy();
    planted.put("authorizer denies", 401);

    assertThat(
            RecordedAnswers.read(ANSWERS)
                .compare(new Answer("handshake-statuses", planted))
                .toString())
        .isEqualTo("[/authorizer denies: 401 (recorded: 403)]");
  }

  @Test
  void an_answer_has_nothing_of_one_run_or_account() {
    for (Answer answer : SEEN.values()) {
      assertThat(Json.write(answer.answer()))
          .as(answer.question())
          .doesNotContainPattern("[0-9]{10}|[0-9a-f]{8}-|127\\.0\\.0\\.1|us-east-1")
          .doesNotContain(List.of("run-", "amazonaws"));
    }
  }
}
