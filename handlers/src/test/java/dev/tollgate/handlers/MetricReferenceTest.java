package dev.tollgate.handlers;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.message.MessageOutcome;
import dev.tollgate.http.testing.RecordingContext;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/reference/metrics.md} has each metric that is published, and each outcome. */
class MetricReferenceTest {
  private static final Path PAGE = Path.of("../docs/reference/metrics.md");
  private static final Instant NOW = Instant.parse("2026-03-12T19:03:58Z");

  @Test
  void page_has_each_metric_with_its_unit_and_dimension() throws IOException {
    assertThat(rows("## Tollgate's metrics").map(row -> row.subList(0, 3)))
        .containsExactlyInAnyOrderElementsOf(published());
  }

  @Test
  void page_has_each_outcome_of_a_connection_with_its_status() throws IOException {
    List<String> outcomes =
        new ArrayList<>(List.of("`ADMITTED`", "`ADMITTED_WITHOUT_TOKEN`", "`WOULD_REFUSE`"));
    for (Refusal refusal : Refusal.values()) {
      outcomes.add("`" + refusal + "` " + refusal.status());
    }
    outcomes.addAll(List.of("`APPLICATION_REFUSED`", "`APPLICATION_FAILED`"));
    assertThat(
            rows("### Outcomes of connections")
                .map(row -> row.get(0) + row.get(1).replaceAll("^([0-9]{3}): .*|^.*", " $1"))
                .map(String::strip))
        .containsExactlyElementsOf(outcomes);
  }

  @Test
  void page_has_each_outcome_of_a_message() throws IOException {
    assertThat(rows("### Outcomes of messages").map(row -> row.get(0)))
        .containsExactlyElementsOf(
            Arrays.stream(MessageOutcome.values()).map(outcome -> "`" + outcome + "`").toList());
  }

  /** The cells of the rows of the table under a heading. */
  private static Stream<List<String>> rows(String heading) throws IOException {
    return Files.readString(PAGE)
        .split("\n" + heading + "\n", 2)[1]
        .split("\n#", 2)[0]
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> List.of(line.substring(2, line.length() - 2).split(" \\| ")));
  }

  /** Name, unit and dimension of all metrics, as the log lines declare them. */
  private static List<List<String>> published() throws JsonProcessingException {
    RecordingContext context = new RecordingContext(Duration.ofSeconds(1));
    LambdaLogger log = context.getLogger();
    TenantId tenant = new TenantId("acme");
    Metrics metrics = new Metrics(() -> NOW);
    metrics.connection(log, tenant, "ADMITTED", Optional.of("c"), Optional.empty());
    metrics.messages(log, Optional.of(tenant), "PROCESSED", 1, Set.of("c"));
    metrics.placeTaken(log, tenant, NOW);
    metrics.slotUsed(log, tenant, NOW);
    metrics.undeliveredFrames(log, tenant, 1);
    metrics.repaired(log, tenant, 1, 1, 1);
    assertThat(
            Arrays.stream(Metrics.class.getDeclaredMethods()).filter(MetricReferenceTest::isCall))
        .as("methods that publish metrics are all called here")
        .hasSize(context.logged().size());

    log.log(MetricLine.fillDelay(NOW, NOW, Optional.of(tenant), "a fill"));
    log.log(MetricLine.retreat(NOW, "bronze", 6, 100));
    log.log(MetricLine.overAdmitted(NOW, tenant, "numbers"));
    log.log(MetricLine.sweepBacklog(NOW, 1));
    log.log(MetricLine.tokens(NOW, 2, 1));
    log.log(MetricLine.credentialFailures(NOW, "STS", 1, "a reason"));

    List<List<String>> published = new ArrayList<>();
    for (String line : context.logged()) {
      JsonNode declared = new ObjectMapper().readTree(line).at("/_aws/CloudWatchMetrics/0");
      String dimension = declared.at("/Dimensions/0/0").asText();
      for (JsonNode metric : declared.get("Metrics")) {
        published.add(
            List.of(
                "`" + metric.get("Name").asText() + "`",
                metric.get("Unit").asText(),
                dimension.isEmpty() ? "none" : "`" + dimension + "`"));
      }
    }
    return published;
  }

  private static boolean isCall(Method method) {
    return Modifier.isPublic(method.getModifiers());
  }
}
