package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.command.Main;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.local.Cloud;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.testing.ManualClock;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code tollgate prove --rehearse} on local clouds, whose common clock moves where it waits. */
@Tag("nightly")
final class ProveIT {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final String STACK = "Tollgate-prove";
  private static final List<String> OPTIONS =
      List.of(
          "--rehearse",
          "--tenants",
          "5",
          "--handshakes",
          "20",
          "--parallel",
          "1",
          "--directory",
          "run");

  @TempDir private Path directory;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  // DynamoDB Local deletes expired items by the system's time.
  private final ManualClock clock =
      new ManualClock(
          InstantSource.system()
              .instant()
              .plus(1, ChronoUnit.DAYS)
              .truncatedTo(ChronoUnit.MINUTES)
              .plusSeconds(5));
  private final List<InProcessCloud> clouds = new CopyOnWriteArrayList<>();

  private Path answers() throws IOException {
    Path answers = Files.createDirectories(directory.resolve("answers"));
    try (Stream<Path> files = Files.list(ROOT.resolve("docs/aws-answers"))) {
      for (Path file : files.toList()) {
        Files.copy(file, answers.resolve(file.getFileName()));
      }
    }
    return answers;
  }

  private Cloud start(Cloud.Settings settings) {
    InProcessCloud cloud = InProcessCloud.start(settings, clock);
    clouds.add(cloud);
    return new Cloud() {
      @Override
      public void writeOutputs(Path file) {
        cloud.writeOutputs(file);
      }

      @Override
      public boolean writeClaimsEnvironment(Path file) {
        return cloud.writeClaimsEnvironment(file);
      }

      @Override
      public void writeAlarmsEnvironment(Path file) {
        cloud.writeAlarmsEnvironment(file);
      }

      @Override
      public Map<String, String> environmentOfAdministrator(String name) {
        return cloud.environmentOfAdministrator(name);
      }

      @Override
      public void close() {
        clouds.remove(cloud);
        cloud.close();
      }
    };
  }

  private Cloud startNoDeployment(Cloud.Settings settings) {
    if (settings.log().toString().contains(STACK + "/")) {
      throw Failure.of("The local cloud did not start: planted");
    }
    return start(settings);
  }

  private void pass(Duration time) throws InterruptedException {
    settle();
    Instant end = clock.instant().plus(time);
    Instant minute = clock.instant().truncatedTo(ChronoUnit.MINUTES).plusSeconds(60);
    for (; !minute.isAfter(end); minute = minute.plusSeconds(60)) {
      clock.set(minute);
      settle();
    }
    clock.set(end);
    settle();
  }

  private void settle() throws InterruptedException {
    for (InProcessCloud cloud : clouds) {
      cloud.settle();
    }
  }

  private int prove(Cloud.Starter starter, String... more) {
    Shell shell =
        new Shell(
            new ByteArrayInputStream(new byte[0]),
            new PrintWriter(out, true),
            new PrintWriter(err, true),
            directory,
            Optional.of(ROOT),
            Map.of("XDG_CONFIG_HOME", directory.resolve("config").toString()),
            Optional.empty(),
            () -> ChronoUnit.NANOS.between(Instant.EPOCH, clock.instant()),
            this::pass);
    List<String> arguments = new ArrayList<>(List.of("prove"));
    arguments.addAll(OPTIONS);
    arguments.addAll(List.of(more));
    return Main.commandLine(shell, starter).execute(arguments.toArray(String[]::new));
  }

  private JsonNode file(String name) throws IOException {
    Path file = directory.resolve("run").resolve(name);
    return Json.read(name, Files.readString(file));
  }

  @Test
  void a_rehearsal_tries_every_promise_and_leaves_nothing() throws Exception {
    int exitCode = prove(this::start);

    assertThat(exitCode).as("%s%n%s", out, err).isZero();
    JsonNode report = file("report.json");
    assertThat(report.path("passed").asBoolean()).isTrue();
    assertThat(report.path("pending")).isEmpty();
    assertThat(report.path("steps").findValuesAsText("name"))
        .containsExactly(
            "preflight", "questions", "deploy", "promises", "attacks", "load", "teardown");
    assertThat(report.findValuesAsText("result")).contains("HOLDS").doesNotContain("FAILS");
    assertThat(report.findValuesAsText("promise"))
        .filteredOn(promise -> promise.contains("docs/aws-answers/"))
        .hasSize((int) recorded());
    assertThat(report.findValuesAsText("seen"))
        .as("what the load minute measured")
        .contains("handshakes by status (0: no answer): {101=20}");
    assertThat(file("run.json").path("stacks")).isEmpty();
    assertThat(clouds).isEmpty();
  }

  private long recorded() throws IOException {
    try (Stream<Path> files = Files.list(ROOT.resolve("docs/aws-answers"))) {
      return files.filter(file -> file.toString().endsWith(".json")).count();
    }
  }

  @Test
  void another_answer_than_the_recorded_one_is_named_with_the_file_to_mend() throws Exception {
    Path answers = answers();
    Path planted = answers.resolve("handshake-statuses.json");
    ObjectNode recorded = (ObjectNode) Json.read("planted", Files.readString(planted));
    recorded.withObject("/answer").put("authorizer denies", 418);
    Files.writeString(planted, Json.writePretty(recorded));

    int stopped = prove(this::startNoDeployment, "--answers", answers.toString());

    assertThat(stopped).isEqualTo(1);
    assertThat(err.toString())
        .contains("planted")
        .contains("Nothing is left: the local clouds ended with this command.")
        .doesNotContain("two hours");
    assertThat(clouds).as("clouds of the process that ended").isEmpty();

    String id = file("run.json").path("id").asText();
    prove(this::startNoDeployment, "--answers", answers.toString());

    assertThat(file("run.json").path("id").asText()).as("a new run").isNotEqualTo(id);

    int removed = prove(this::start, "--teardown");

    assertThat(removed).isEqualTo(1);
    assertThat(out.toString())
        .contains("Not done: deploy, promises, attacks, load.")
        .contains("FAILS: AWS answers as in docs/aws-answers/handshake-statuses.json")
        .contains("(recorded: 418)")
        .contains("mend: " + recorded.path("ifWrong").asText());
    assertThat(file("run.json").path("stacks")).isEmpty();
  }
}
