package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The requests with {@code curl} in the documentation get the answers that their comments tell. */
final class DocumentedRequestsIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();
  private static final Path DOCS = Path.of("../docs");
  private static final Pattern SHELL =
      Pattern.compile("^```sh\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern EXPECTED = Pattern.compile("# (\\d{3}):");

  /** Writes the status of each answer to standard error, one a line. */
  private static final String CURL =
      """
      curl() { command curl -sS -w '%{stderr}%{http_code}\\n' "$@"; }
      """;

  @TempDir Path directory;

  @BeforeEach
  void writeOutputs() throws IOException {
    Path outputs = Files.createDirectory(directory.resolve(".tollgate")).resolve("outputs.json");
    new ObjectMapper().writeValue(outputs.toFile(), Map.of("Tollgate", DEPLOYMENT.outputs()));
  }

  @Test
  void session_api_answers_as_the_page_about_local_runs_says() throws Exception {
    DEPLOYMENT.onboard("gold-demo", "gold", "{}");
    String script = script("how-to/run-locally.md");
    List<String> expected =
        EXPECTED.matcher(script).results().map(comment -> comment.group(1)).toList();

    List<String> statuses = run(script);

    assertThat(statuses.get(0)).as("of the request whose answer sets ID").isEqualTo("201");
    assertThat(statuses.subList(1, statuses.size())).hasSize(3).isEqualTo(expected);
  }

  @Test
  void control_plane_repeats_its_answer_for_a_key() throws Exception {
    String script = script("reference/http-and-frames.md");

    assertThat(run(script + script)).containsExactly("201", "201");
    assertThat(Files.readString(directory.resolve("answers")))
        .containsOnlyOnce("idempotency-replayed");
  }

  private static String script(String page) throws IOException {
    return SHELL
        .matcher(Files.readString(DOCS.resolve(page)))
        .results()
        .map(block -> block.group(1))
        .filter(block -> block.contains("curl "))
        .findFirst()
        .orElseThrow();
  }

  /** Runs a script as a reader would; returns what {@link #CURL} wrote. */
  private List<String> run(String script) throws IOException, InterruptedException {
    File answers = directory.resolve("answers").toFile();
    File statuses = directory.resolve("statuses").toFile();
    ProcessBuilder bash =
        new ProcessBuilder("bash", "-euo", "pipefail", "-c", CURL + script)
            .directory(directory.toFile())
            .redirectOutput(answers)
            .redirectError(statuses);
    bash.environment().putAll(DEPLOYMENT.outputs());

    assertThat(bash.start().waitFor()).as("exit code").isZero();
    return Files.readAllLines(statuses.toPath());
  }
}
