package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.LocalCloud;
import dev.tollgate.local.Options;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of tenants and tiers, applied to the complete stack on a local cloud. */
final class FileIT {
  private static final int ROWS = 15;
  private static final int TENANTS = 60;

  @TempDir private static Path directory;
  private static LocalCloud cloud;

  @BeforeAll
  static void start() {
    cloud =
        LocalCloud.start(
            new Options(
                Path.of("../infra/target/cdk.out"),
                "127.0.0.1",
                0,
                Optional.empty(),
                Optional.of(Path.of("target/endtoend.log")),
                Map.of(),
                InstantSource.system()));
    Path file = directory.resolve(Outputs.DEFAULT);
    cloud.writeOutputs(file);
    Outputs outputs = Outputs.read("test", file, Optional.empty());
    Context context = Context.of(Context.LOCAL, outputs, Optional.empty(), Optional.empty(), false);
    ContextFile.update(directory.resolve("tollgate"), contexts -> contexts.with(context));
  }

  @AfterAll
  static void stop() {
    cloud.close();
  }

  /** The result of a command line. */
  private record Run(int exitCode, String out, String err) {}

  private static Run run(String... arguments) {
    AtomicLong elapsed = new AtomicLong();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Shell shell =
        new Shell(
            new ByteArrayInputStream(new byte[0]),
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            directory,
            Optional.empty(),
            Map.of("XDG_CONFIG_HOME", directory.toString()),
            Optional.empty(),
            elapsed::get,
            time -> elapsed.addAndGet(time.toNanos()));
    int code = Main.commandLine(shell, InProcessCloud::start, arguments).execute(arguments);
    return new Run(code, out.toString(), err.toString());
  }

  /** The requests that wrote something while a command ran. */
  private static List<String> writes(Runnable command) {
    cloud.requests().clear();
    command.run();
    return cloud.requests().of("ControlPlane").stream()
        .map(Request::operation)
        .filter(operation -> !operation.matches("(Get|BatchGet|List|Query|Scan|Assume).*"))
        .toList();
  }

  private static Path file(String name, String content) throws IOException {
    return Files.writeString(directory.resolve(name), content);
  }

  private static String saas(String tenants) {
    return """
        tiers:
          thrifty:
            isolation: POOL
            fillMode: SHARED
            hibernateAfterMinutes: 2
            limits: {tenantPerMinute: 30, sessionPerMinute: 5, connectionsPerSession: 2,
                     tenantConnections: 5, sessionTTL: 200, messagesPerMinute: 30}
          bronze:
            isolation: POOL
            limits: {tenantPerMinute: 60, sessionPerMinute: 5, connectionsPerSession: 2,
                     tenantConnections: 10, sessionTTL: 200, messagesPerMinute: 60}
        tenants:
        """
        + tenants;
  }

  private static long tenants() {
    Run list = run("tenants", "list", "--json");
    return Stream.of(list.out().split("\"tenantId\":\"filed-", -1)).count() - 1;
  }

  @Tag("nightly")
  @Test
  void a_killed_apply_is_finished_by_the_next_and_a_third_writes_nothing() throws Exception {
    String tenants =
        IntStream.range(0, TENANTS)
            .mapToObj("  filed-%d: {tier: thrifty, overrides: {tenantConnections: 3}}"::formatted)
            .collect(Collectors.joining("\n"));
    file("saas.yaml", saas(tenants));
    assertThat(run("plan", "saas.yaml").exitCode()).isEqualTo(3);

    Process killed =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "apply",
                "saas.yaml",
                "--yes",
                "--parallel",
                "4",
                "--outputs",
                Outputs.DEFAULT.toString())
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("killed.log").toFile())
            .start();
    while (tenants() < 10 && killed.isAlive()) {
      Thread.onSpinWait();
    }
    killed.destroyForcibly();
    assertThat(killed.waitFor(10, TimeUnit.SECONDS)).isTrue();
    long onboarded = tenants();
    assertThat(onboarded).as(Files.readString(directory.resolve("killed.log"))).isLessThan(TENANTS);

    Run finished = run("apply", "saas.yaml", "--yes");

    assertThat(finished.exitCode()).as(finished.toString()).isZero();
    assertThat(tenants()).isEqualTo(TENANTS);
    assertThat(run("plan", "saas.yaml").exitCode()).isZero();
    assertThat(writes(() -> assertThat(run("apply", "saas.yaml", "--yes").exitCode()).isZero()))
        .isEmpty();
    System.out.println(
        "killed after " + onboarded + " of " + TENANTS + "; then: " + finished.out());

    file("saas.yaml", saas("  filed-0: {tier: bronze}\n  filed-1: {tier: thrifty}\n"));
    Run pruned = run("apply", "saas.yaml", "--yes", "--prune");
    assertThat(pruned.exitCode()).as(pruned.toString()).isZero();
    assertThat(tenants()).isEqualTo(2);
    assertThat(run("tiers", "list").out()).contains("bronze", "thrifty").doesNotContain("gold");
    file("saas.yaml", "tenants: {}");
    assertThat(run("apply", "saas.yaml", "--yes", "--prune").exitCode()).isZero();
    assertThat(tenants()).isZero();
  }

  @Test
  @Tag("nightly")
  void an_import_onboards_its_rows_and_the_next_writes_nothing() throws Exception {
    run("tiers", "apply", file("cheap.yaml", cheap()).toString());
    file(
        "customers.csv",
        "tenantId,tier,tenantConnections\n"
            + IntStream.range(0, ROWS)
                .mapToObj(i -> "row-" + i + ",cheap," + (i % 2 == 0 ? "7" : "") + "\n")
                .collect(Collectors.joining()));

    cloud.requests().clear();
    Run first = run("tenants", "import", "customers.csv", "--rate", "100");

    assertThat(first.exitCode()).as(first.toString()).isZero();
    System.out.println(
        "AWS requests of the control plane for an import of "
            + ROWS
            + " tenants: "
            + cloud.requests().of("ControlPlane").size());
    assertThat(run("tenants", "show", "row-0").out()).contains("cheap", "overridden");
    assertThat(
            writes(
                () -> {
                  Run second = run("tenants", "import", "customers.csv");
                  assertThat(second.exitCode()).isZero();
                  assertThat(second.out()).contains(ROWS + " already exist; nothing to do");
                }))
        .isEmpty();
    for (int i = 0; i < ROWS; i++) {
      run("tenants", "offboard", "row-" + i, "--yes");
    }
  }

  private static String cheap() {
    return """
        tiers:
          cheap:
            isolation: POOL
            fillMode: SHARED
            limits: {tenantPerMinute: 10, sessionPerMinute: 5, connectionsPerSession: 2,
                     tenantConnections: 10, sessionTTL: 200, messagesPerMinute: 10}
        """;
  }
}
