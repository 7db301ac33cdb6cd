package dev.tollgate.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Documents;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Response;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.local.Cloud;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UpTest {
  private final List<Cloud.Settings> started = new ArrayList<>();
  private final List<Path> claims = new ArrayList<>();
  private final AtomicBoolean closed = new AtomicBoolean();
  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
    Files.createDirectories(directory.resolve("infra/target/cdk.out"));
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void help_shows_the_usual_options_first() {
    String help = deployment.run("up", "--help").out();
    String usual = help.substring(help.indexOf("      --demo"), help.indexOf("Rarely needed:"));
    String rare = help.substring(help.indexOf("Rarely needed:"));

    assertThat(usual).containsSubsequence("--demo ", "--data=", "--port=", "--help ", "--json ");
    assertThat(rare)
        .contains("--bind=", "--host=", "--assembly=", "--jwks=", "--no-iam", "--faults=")
        .contains("--requests=", "Exit codes:");
  }

  @Test
  void up_prints_and_writes_the_outputs_and_closes_when_interrupted() throws IOException {
    Path file = directory.resolve("elsewhere/outputs.json");

    Run run = deployment.run(this::start, "up", "--port", "0", "--outputs", file.toString());

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .startsWith("Tollgate is up after 0.0 s. Press Ctrl-C to stop it.\n")
        .contains("SessionURL       " + deployment.uri() + "/api/session\n")
        .contains("Addresses: elsewhere/outputs.json")
        .contains("Tables and queues are in memory; --data DIR keeps them.\n")
        .contains("Environment for programs that claim tokens: elsewhere/claims.env")
        .contains(
            "./tollgate tenants onboard acme --tier gold --set tenantPerMinute=5 --outputs elsewhere/outputs.json\n");
    assertThat(Outputs.read("test", file, Optional.empty()).stack()).isEqualTo("Tollgate");
    assertThat(started)
        .containsExactly(
            new Cloud.Settings(
                directory.resolve("infra/target/cdk.out"),
                "127.0.0.1",
                0,
                Set.of(),
                directory.resolve("elsewhere/up.log"),
                Optional.empty(),
                Map.of(),
                true,
                Optional.empty(),
                Optional.empty()));
    assertThat(claims).containsExactly(directory.resolve("elsewhere/claims.env"));
    assertThat(closed).isTrue();
  }

  @Test
  void up_registers_the_local_cloud_as_context_local() throws IOException {
    assertThat(deployment.run("context", "remove", "local").exitCode()).isZero();

    Run run = deployment.run(this::start, "up", "--port", "0");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .contains("  ./tollgate tenants onboard acme --tier gold --set tenantPerMinute=5\n");
    assertThat(deployment.run("context", "list").out())
        .contains("*  local    " + deployment.uri() + "/control/");
  }

  @Test
  void up_with_an_outputs_file_leaves_context_local_as_it_is() throws IOException {
    String before = deployment.run("context", "list").out();

    deployment.run(this::start, "up", "--port", "0", "--outputs", "elsewhere/outputs.json");

    assertThat(deployment.run("context", "list").out()).isEqualTo(before);
  }

  @Test
  void up_suggests_commands_that_address_the_local_cloud_while_another_context_is_in_use()
      throws IOException {
    Path file = directory.resolve(Outputs.DEFAULT);
    deployment.addContext("prod", file).run("context", "use", "prod");

    Run used = deployment.run(this::start, "up", "--port", "0");

    assertThat(used.out())
        .contains(
            "  ./tollgate tenants onboard acme --tier gold --set tenantPerMinute=5 --context local\n");
    assertThat(deployment.run("context", "list").out()).contains("*  prod");
  }

  @Test
  void up_runs_even_if_the_context_cannot_be_written() throws IOException {
    Path file = directory.resolve("not-a-directory");
    Files.writeString(file, "");
    deployment.environment("XDG_CONFIG_HOME", file.toString());

    Run run = deployment.run(this::start, "up", "--port", "0");

    assertThat(run.exitCode()).isZero();
    assertThat(run.err()).contains("not-a-directory");
    assertThat(run.out()).contains("--outputs .tollgate/outputs.json\n");
  }

  @Test
  void up_accepts_requests_for_the_given_host_names() {
    deployment.run(this::start, "up", "--port", "0", "--host", "laptop.lan", "--host", "build.lan");

    assertThat(started)
        .singleElement()
        .extracting(Cloud.Settings::hosts)
        .isEqualTo(Set.of("laptop.lan", "build.lan"));
  }

  @Test
  void up_writes_requests_to_the_given_file() {
    deployment.run(this::start, "up", "--port", "0", "--requests", "requests.jsonl");

    assertThat(started)
        .singleElement()
        .extracting(Cloud.Settings::requests)
        .isEqualTo(Optional.of(directory.resolve("requests.jsonl")));
  }

  @Test
  void up_without_iam_enforces_no_policy() {
    deployment.run(this::start, "up", "--port", "0", "--no-iam");

    assertThat(started).singleElement().extracting(Cloud.Settings::iam).isEqualTo(false);
  }

  /** Waits for the other requests of a demo, which are sent in parallel. */
  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void up_with_demo_onboards_a_tenant_of_each_tier_at_the_same_time() {
    Set<String> onboarded = ConcurrentHashMap.newKeySet();
    CountDownLatch all = new CountDownLatch(3);
    deployment.answersWith(
        (request, ifMatch) -> {
          onboarded.add(request.body());
          all.countDown();
          awaitUninterrupted(all);
          return Optional.of(
              request.body().contains("silver")
                  ? new Response(409, Documents.problem(409, "Conflict", "other tier"), Map.of())
                  : new Response(201, Documents.ACME, Map.of()));
        });

    Run run = deployment.run(this::start, "up", "--port", "0", "--demo", "--data", "state");

    assertThat(onboarded)
        .containsExactlyInAnyOrder(
            "{\"tenantId\":\"bronze-demo\",\"tier\":\"bronze\"}",
            "{\"tenantId\":\"silver-demo\",\"tier\":\"silver\"}",
            "{\"tenantId\":\"gold-demo\",\"tier\":\"gold\"}");
    assertThat(run.err()).isEqualTo("tollgate: silver-demo: other tier\n");
    assertThat(run.exitCode()).isZero();
    assertThat(started.get(0).data()).contains(directory.resolve("state"));
  }

  @Test
  void up_on_a_port_in_use_fails_before_anything_starts() throws IOException {
    try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = other.getLocalPort();

      Run run = deployment.run(this::start, "up", "--port", String.valueOf(port));

      assertThat(run.exitCode()).isEqualTo(1);
      assertThat(run.err())
          .contains("Port " + port + " on 127.0.0.1", "./tollgate up --port " + (port + 1));
      assertThat(started).isEmpty();
    }
  }

  @Test
  void up_in_a_release_runs_the_stack_of_the_release() throws IOException {
    Path stack = Files.createDirectory(directory.resolve("stack"));

    deployment.run(this::start, "up", "--port", "0");

    assertThat(started).extracting(Cloud.Settings::assembly).containsExactly(stack);
  }

  @Test
  void up_without_a_synthesized_stack_says_how_to_create_one() throws IOException {
    Files.delete(directory.resolve("infra/target/cdk.out"));

    Run run = deployment.run(this::start, "up", "--port", "0");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("No synthesized stack in", "`mvn package`");
  }

  @Test
  void up_rejects_an_invalid_port() {
    assertThat(deployment.run(this::start, "up", "--port", "65536").exitCode()).isEqualTo(2);
  }

  @Test
  void up_reads_the_keys_of_an_issuer_from_a_file_or_url() throws IOException {
    Files.writeString(directory.resolve("keys.json"), "{\"keys\":[]}");

    Run run =
        deployment.run(
            this::start,
            "up",
            "--port",
            "0",
            "--jwks",
            "https://login.example.com/=keys.json",
            "--jwks",
            "https://example.com=http://127.0.0.1:9/keys?a=b");

    assertThat(run.err()).isEmpty();
    assertThat(started.get(0).keySets())
        .containsOnly(
            Map.entry("https://login.example.com/", directory.resolve("keys.json").toUri()),
            Map.entry("https://example.com", URI.create("http://127.0.0.1:9/keys?a=b")));
  }

  @Test
  void up_reports_a_missing_key_file() {
    Run run =
        deployment.run(this::start, "up", "--port", "0", "--jwks", "https://example.com=no.json");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("--jwks: ", "no.json (expected: an existing file, or a URL");
    assertThat(started).isEmpty();
  }

  private Cloud start(Cloud.Settings settings) {
    started.add(settings);
    return new Cloud() {
      @Override
      public void writeOutputs(Path file) {
        try {
          Files.createDirectories(file.resolveSibling(""));
          Files.writeString(file, Files.readString(directory.resolve(Outputs.DEFAULT)));
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }

      @Override
      public boolean writeClaimsEnvironment(Path file) {
        claims.add(file);
        return true;
      }

      @Override
      public void writeAlarmsEnvironment(Path file) {}

      @Override
      public Map<String, String> environmentOfAdministrator(String name) {
        return Map.of();
      }

      @Override
      public void close() {
        closed.set(true);
      }
    };
  }
}
