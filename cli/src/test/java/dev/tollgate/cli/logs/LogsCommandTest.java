package dev.tollgate.cli.logs;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.StubDeployment;
import dev.tollgate.cli.StubDeployment.Run;
import dev.tollgate.cli.context.LocalAccess;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.local.testing.ManualClock;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The command against a local cloud that is scripted. */
class LogsCommandTest {
  private static final String REQUEST = "POST /";
  private static final Instant START = Instant.parse("2026-03-12T14:00:00Z");

  @TempDir private Path directory;
  private StubDeployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new StubDeployment(directory);
    Path outputs = directory.resolve(Outputs.DEFAULT);
    Files.writeString(
        outputs,
        Files.readString(outputs)
            .replace(
                "\"SessionURL\"",
                "\"LogGroups\":\"Authorizer=group-1\\nConnect=group-2\",\"SessionURL\""));
    Files.write(
        outputs.resolveSibling(LocalAccess.FILE),
        List.of(
            "AWS_ACCESS_KEY_ID=AKIA",
            "AWS_SECRET_ACCESS_KEY=secret",
            "AWS_SESSION_TOKEN=token",
            "AWS_REGION=us-east-1",
            "AWS_ENDPOINT_URL=" + deployment.uri()));
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  private static String event(String id, Instant time, String message) {
    return "{\"eventId\":\"%s\",\"timestamp\":%d,\"message\":\"%s\",\"logStreamName\":\"s\"}"
        .formatted(id, time.toEpochMilli(), message);
  }

  private void page(String... events) {
    deployment.answers(REQUEST, 200, "{\"events\":[" + String.join(",", events) + "]}");
  }

  private List<String> bodies() {
    return deployment.requests().stream().map(StubDeployment.Request::body).toList();
  }

  @Test
  void lines_of_all_functions_are_printed_oldest_first() {
    page(event("1", START, "one"), event("3", START.plusMillis(20), "tenant acme: not retuned"));
    page(event("2", START.plusMillis(10), "two"));

    Run run = deployment.run("logs");

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .isEqualTo(
            """
            2026-03-12T14:00:00.000Z  Authorizer  one
            2026-03-12T14:00:00.010Z  Connect     two
            2026-03-12T14:00:00.020Z  Authorizer  WARN tenant acme: not retuned
            """);
  }

  @Test
  void options_select_lines_and_cloudwatch_filters_them_first() {
    page(
        event("1", START, "tenant acme: not retuned"),
        event("2", START, "tenant acme: well"),
        event("3", START, "tenant acme-2: not retuned"));

    Run run =
        deployment.run(
            "logs", "--function", "connect", "--tenant", "acme", "--level", "warn", "-o", "json");

    assertThat(run.out())
        .isEqualTo(
            "{\"time\":\"2026-03-12T14:00:00.000Z\",\"function\":\"Connect\",\"level\":\"WARN\","
                + "\"what\":\"tenant acme: not retuned\",\"message\":\"tenant acme: not retuned\"}\n");
    assertThat(bodies()).hasSize(1);
    assertThat(bodies().get(0))
        .contains("\"logGroupName\":\"group-2\"", "\"filterPattern\":\"%acme%\"");
  }

  @Test
  void a_level_alone_is_a_pattern_that_cloudwatch_accepts() {
    page();

    Run run = deployment.run("logs", "--function", "Connect", "--level", "WARN");

    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("No matching log lines since ");
    assertThat(bodies().get(0)).containsPattern("\"filterPattern\":\"%[A-Za-z_|.]+%\"");
  }

  @Test
  void invalid_values_exit_with_2_and_name_the_option() {
    assertRefused("--tenant: Acme (expected: lower-case letters", "--tenant", "Acme");
    assertRefused("--function: Nosuch (expected: Authorizer, Connect)", "--function", "Nosuch");
    assertRefused("'--level'", "--level", "FATAL");
    assertRefused("'--since': soon (expected: minutes", "--since", "soon");
  }

  private void assertRefused(String message, String... options) {
    List<String> arguments = new ArrayList<>(List.of("logs"));
    arguments.addAll(List.of(options));
    Run run = deployment.run(arguments.toArray(String[]::new));

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains(message);
  }

  @Test
  void errors_say_what_to_do() throws IOException {
    deployment.answers(REQUEST, 400, "{\"__type\":\"AccessDeniedException\",\"message\":\"no\"}");
    Run refused = deployment.run("logs");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err())
        .isEqualTo("tollgate: Cannot read log group group-1: 400 AccessDeniedException: no\n");

    Files.delete(directory.resolve(Outputs.DEFAULT).resolveSibling(LocalAccess.FILE));
    assertThat(deployment.run("logs").err()).contains("alarms.env, which `./tollgate up` writes");

    Path outputs = directory.resolve(Outputs.DEFAULT);
    Files.writeString(outputs, Files.readString(outputs).replace("LogGroups", "Other"));
    assertThat(deployment.run("logs").err())
        .endsWith(
            "has no output LogGroups. Deploy this version of Tollgate first, or add the output to"
                + " your own CDK app (docs/reference/settings.md).\n");
  }

  /** A late event, an event that is read twice, and a new one. */
  @Test
  void follow_reads_some_time_again_and_prints_no_line_twice() {
    ManualClock clock = new ManualClock(START.plusNanos(123_456_789));
    Instant first = START.minusSeconds(60);
    page(event("1", first, "one"));
    page(event("1", first, "one"));
    page(event("0", first.minusSeconds(10), "late"), event("1", first, "one"));
    page(event("1", first, "one"), event("2", START.plusSeconds(4), "two"));
    page(event("2", START.plusSeconds(4), "two"));

    List<String> lines = follow(clock, 4, "--follow", "--function", "Connect", "--since", "1h");

    assertThat(lines)
        .extracting(line -> line.substring(line.lastIndexOf(' ') + 1))
        .containsExactly("one", "late", "two");
    assertThat(bodies())
        .extracting(
            body ->
                Instant.ofEpochMilli(Long.parseLong(body.replaceAll("\\D*2\\D*(\\d+).*", "$1"))))
        .containsExactly(
            START.minusSeconds(3_600).plusMillis(123),
            first.minusSeconds(30),
            first.minusSeconds(30),
            first.minusSeconds(30),
            START.minusSeconds(26));
  }

  @Test
  void follow_without_lines_reads_only_the_last_minutes_again() {
    ManualClock clock = new ManualClock(START);
    page();

    assertThat(follow(clock, 2, "--follow", "--function", "Connect", "--since", "7d")).isEmpty();
    assertThat(bodies().get(2))
        .contains("\"startTime\":" + START.plusSeconds(4).minusSeconds(330).toEpochMilli());
  }

  /** Polls some times, two seconds apart; returns the printed lines. */
  private List<String> follow(ManualClock clock, int polls, String... options) {
    List<String> lines = new ArrayList<>();
    List<Duration> sleeps = new ArrayList<>();
    Shell shell =
        new Shell(
            InputStream.nullInputStream(),
            new PrintWriter(new StringWriter()),
            new PrintWriter(new StringWriter()),
            directory,
            Optional.empty(),
            Map.of(),
            Optional.empty(),
            () -> clock.instant().toEpochMilli() * 1_000_000,
            time -> {
              clock.advance(time);
              if (time.toSeconds() == 2) {
                sleeps.add(time);
              }
              if (sleeps.size() > polls) {
                throw new InterruptedException("Ctrl-C");
              }
            });
    Target target =
        new Target(
            Optional.empty(),
            false,
            Outputs.read("test", directory.resolve(Outputs.DEFAULT), Optional.empty()),
            Optional.empty(),
            Optional.empty());
    new CommandLine(new LogsCommand(new TextOutput(target, lines), shell, clock))
        .registerConverter(
            Duration.class, text -> text.equals("7d") ? Duration.ofDays(7) : Duration.ofHours(1))
        .setExecutionExceptionHandler((interrupted, command, result) -> 1)
        .execute(options);
    // The interrupt that ended the command.
    assertThat(Thread.interrupted()).isTrue();
    return lines;
  }

  private record TextOutput(Target target, List<String> lines) implements CommandEnvironment {
    @Override
    public Sender controlPlane() {
      throw new AssertionError("the control plane may be down");
    }

    @Override
    public boolean isCsv() {
      return false;
    }

    @Override
    public void print(Response response, List<String> text) {
      throw new AssertionError("no response is printed");
    }

    @Override
    public void print(JsonNode document, List<String> text) {
      lines.addAll(text);
    }

    @Override
    public Response found(Response response, String missing) {
      throw new AssertionError("nothing is looked up");
    }

    @Override
    public List<JsonNode> tenants(Sender api, SortedMap<String, String> filters) {
      throw new AssertionError("no tenant is listed");
    }

    @Override
    public Progress progress() {
      throw new AssertionError("no progress is shown");
    }
  }
}
