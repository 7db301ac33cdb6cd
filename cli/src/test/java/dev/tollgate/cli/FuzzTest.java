package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.http.testing.Fuzz;
import dev.tollgate.http.testing.Leaks;
import dev.tollgate.http.testing.RandomInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random files: errors name the place in the file and reveal nothing of the implementation, and a
 * rejected file changes nothing.
 */
class FuzzTest {
  private static final String LIMITS =
      "{\"tenantPerMinute\": 60, \"sessionPerMinute\": 5, \"connectionsPerSession\": 2,"
          + " \"tenantConnections\": 10, \"sessionTTL\": 200, \"messagesPerMinute\": 60}";
  private static final String JSON =
      "{\"tiers\": {\"bronze\": {\"isolation\": \"POOL\", \"limits\": "
          + LIMITS
          + ", \"buckets\": {\"send-email\": {\"ratePerMinute\": 0.2, \"capacity\": 5}},"
          + " \"fillMode\": \"PRODUCER\", \"hibernateAfterMinutes\": 15}},"
          + " \"tenants\": {\"acme\": {\"tier\": \"bronze\", \"status\": \"SUSPENDED\","
          + " \"overrides\": {\"sessionTTL\": 60}}}}";
  private static final String YAML =
      """
      tiers:
        bronze: &bronze
          isolation: POOL
          limits:
            tenantPerMinute: 60
            sessionPerMinute: 5
            connectionsPerSession: 2
            tenantConnections: 10
            sessionTTL: 200
            messagesPerMinute: 60
          buckets:
            send-email: {ratePerMinute: 0.2, capacity: 5}
        tin: *bronze
      tenants:
        # a tenant
        acme:
          tier: bronze
          overrides: {sessionTTL: 60}
      """;

  /** Constructs that YAML has and JSON has not. */
  private static final List<String> YAML_PARTS =
      List.of(
          "!!int \"x\"",
          "!!binary aGk=",
          "!!python/object [x]",
          "!<tag:yaml.org,2002:float> .inf",
          "&a [*a, *a]",
          "*bronze",
          "*nobody",
          "<<: *bronze",
          "? [a, b]\n: 1",
          "|\n  text",
          ">-\n",
          "---\n",
          "...\n",
          "%YAML 9.9\n---\n",
          "- ",
          "\t",
          "\n  \n ",
          "# ",
          "'",
          "\"\\q\"",
          "0o17",
          "~",
          "yes",
          ".nan",
          "1_000");

  private static final String CSV = "tenantId,tier,sessionTTL\nacme,bronze,60\nglobex,gold,\n";

  @TempDir private Path directory;
  private StubDeployment deployment;
  private final ControlPlane controlPlane = new ControlPlane();

  @BeforeEach
  void start() throws IOException {
    deployment = new StubDeployment(directory).answersWith(controlPlane);
  }

  @AfterEach
  void stop() {
    deployment.close();
  }

  private static String yaml(RandomInput random) {
    if (random.onceIn(3)) {
      return random.mutated(JSON);
    }
    List<String> lines = new ArrayList<>(YAML.lines().toList());
    for (int changes = random.oneOf(1, 1, 2, 3); changes > 0; changes--) {
      int at = random.below(lines.size());
      String line = lines.get(at);
      String other = random.onceIn(2) ? random.oneOf(YAML_PARTS) : random.value();
      switch (random.below(6)) {
        case 0 -> lines.add(at, random.oneOf(lines));
        case 1 -> lines.set(at, line.substring(0, line.indexOf(':') + 1) + " " + other);
        case 2 -> lines.set(at, " ".repeat(random.below(9)) + line.strip());
        case 3 -> lines.add(at, " ".repeat(random.below(9)) + other);
        case 4 -> lines.set(at, random.garbled(line));
        default -> lines.set(at, line + " " + other);
      }
    }
    return String.join("\n", lines);
  }

  /** Whether the file was accepted, with or without differences. */
  private static boolean accepted(Run run) {
    return run.exitCode() == 0 || run.exitCode() == ExitCode.DIFFERS;
  }

  private void check(Run run, String where) {
    String message = run.out() + run.err();
    Leaks.check(message);
    assertThat(message).doesNotContain("org.snakeyaml", "com.fasterxml");
    assertThat(run.exitCode()).isBetween(0, 3);
    if (!accepted(run)) {
      assertThat(run.err()).startsWith("tollgate: ").contains(where);
      assertThat(controlPlane.writes()).isEmpty();
    }
  }

  @Test
  void an_invalid_yaml_file_is_rejected_with_line_numbers() throws IOException {
    Path file = directory.resolve("all.yaml");
    Fuzz.each(
        100,
        random -> {
          Files.write(file, random.bytes(yaml(random)));
          Run run = deployment.run("plan", "all.yaml");
          check(run, "all.yaml");
          boolean placed =
              run.err().matches("(?s).*\\bline \\d+.*|.*is not UTF-8.*|.*Number of aliases.*");
          assertThat(accepted(run) || placed).as(run.err()).isTrue();
        });
    assertThat(controlPlane.writes()).isEmpty();
  }

  @Test
  void apply_rejects_what_plan_rejects_and_applies_the_rest_once() throws IOException {
    Path file = directory.resolve("all.yaml");
    AtomicInteger applied = new AtomicInteger();
    Fuzz.each(
        100,
        random -> {
          Files.write(file, random.bytes(yaml(random)));
          boolean accepted = accepted(deployment.run("plan", "all.yaml"));
          controlPlane.forgetWrites();
          Run run = deployment.run("apply", "all.yaml", "--yes");
          check(run, "all.yaml");
          assertThat(run.exitCode() == 0).as("applied as planned: %s", run).isEqualTo(accepted);
          if (accepted) {
            applied.incrementAndGet();
            controlPlane.forgetWrites();
            assertThat(deployment.run("apply", "all.yaml", "--yes").out())
                .endsWith("Nothing to do.\n");
            assertThat(controlPlane.writes()).isEmpty();
          }
        });
    assertThat(applied).as("files that were valid despite a mutation").hasPositiveValue();
  }

  @Test
  void an_invalid_csv_file_is_rejected_with_row_numbers() throws IOException {
    Path file = directory.resolve("all.csv");
    controlPlane.tenant("acme", "bronze", "{\"sessionTTL\":60}").tenant("globex", "gold", "{}");
    Fuzz.each(
        100,
        random -> {
          String cell = random.onceIn(3) ? CSV.replace("60", random.text()) : CSV;
          // A header alone contains no tenants, and neither does a file cut off before its first
          // row.
          Files.write(file, random.bytes(random.garbled(cell)));
          Run run = deployment.run("tenants", "import", "all.csv");
          String message = run.out() + run.err();
          Leaks.check(message);
          assertThat(run.exitCode()).isBetween(0, 2);
          boolean placed = run.err().matches("(?s).*\\brow \\d+.*|.*is not UTF-8.*");
          assertThat(run.exitCode() == 0 || placed).as(message).isTrue();
        });
  }
}
