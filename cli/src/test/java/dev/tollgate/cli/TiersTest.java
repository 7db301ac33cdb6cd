package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.cli.Deployment.Request;
import dev.tollgate.cli.Deployment.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TiersTest {
  @TempDir private Path directory;
  private Deployment deployment;

  @BeforeEach
  void open() throws IOException {
    deployment = new Deployment(directory);
  }

  @AfterEach
  void close() {
    deployment.close();
  }

  @Test
  void list_shows_the_limits_of_each() {
    deployment.answers("GET /control/tiers", 200, "{\"tiers\":[" + Documents.BRONZE + "]}");

    assertThat(deployment.run("tiers", "list").out().lines())
        .containsExactly(
            "TIER    ISOLATION  tenantPerMinute  sessionPerMinute  connectionsPerSession"
                + "  tenantConnections  sessionTTL  messagesPerMinute",
            "bronze  POOL                    60                 5                      2"
                + "                 10         200                 60");
  }

  @Test
  void show_lists_every_value() {
    deployment.answers("GET /control/tiers/bronze", 200, Documents.BRONZE);

    assertThat(deployment.run("tiers", "show", "bronze").out())
        .contains("limits.sessionTTL             200\n", "isolation                     POOL\n");
    assertThat(deployment.run("tiers", "show", "bronze", "--json").out())
        .isEqualTo(Documents.BRONZE + "\n");
  }

  @Test
  void apply_puts_each_tier_and_says_what_has_changed() throws IOException {
    String changed = Documents.BRONZE.replace("\"sessionTTL\":200", "\"sessionTTL\":400");
    String platinum =
        "{\"tier\":\"platinum\",\"limits\":{\"sessionTTL\":5},\"buckets\":"
            + "{\"send-email\":{\"ratePerMinute\":0.2,\"capacity\":5}}}";
    String silver = "{\"tier\":\"silver\"}";
    Files.writeString(
        directory.resolve("tiers.json"), "[" + changed + "," + platinum + "," + silver + "]");
    deployment
        .answers("GET /control/tiers/bronze", 200, Documents.BRONZE)
        .answers(
            "PUT /control/tiers/bronze", 200, changed.replace("\"version\":1", "\"version\":2"))
        .answers("GET /control/tiers/platinum", 404, Documents.problem(404, "Not Found", "no"))
        .answers("PUT /control/tiers/platinum", 201, platinum)
        .answers("GET /control/tiers/silver", 200, silver)
        .answers("PUT /control/tiers/silver", 200, silver);

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.err()).isEmpty();
    assertThat(run.out())
        .isEqualTo(
            """
            bronze: changed
              limits.sessionTTL: 200 → 400
            platinum: created
            silver: unchanged
            """);
    assertThat(deployment.requests())
        .contains(
            new Request("PUT", "/control/tiers/bronze", changed),
            new Request("PUT", "/control/tiers/platinum", platinum));
  }

  @Test
  void apply_takes_what_list_prints_and_stops_at_a_refusal_telling_what_is_done()
      throws IOException {
    Files.writeString(
        directory.resolve("tiers.json"),
        "{\"tiers\":[{\"tier\":\"one\"},{\"tier\":\"two\"},{\"tier\":\"three\"}]}");
    deployment
        .answers("GET /control/tiers/one", 404, "")
        .answers("PUT /control/tiers/one", 201, "{\"tier\":\"one\"}")
        .answers("GET /control/tiers/two", 404, "")
        .answers("PUT /control/tiers/two", 400, Documents.problem(400, "Bad Request", "no limits"));

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEqualTo("one: created\n");
    assertThat(run.err()).isEqualTo("tollgate: 400 Bad Request: no limits\n");
    assertThat(deployment.requests()).extracting(Request::path).doesNotContain("/tiers/three");
  }

  @Test
  void apply_of_a_file_without_tiers_is_a_usage_error() throws IOException {
    Files.writeString(directory.resolve("tiers.json"), "[{\"name\":\"bronze\"}]");

    Run run = deployment.run("tiers", "apply", "tiers.json");

    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err())
        .contains("{\"name\":\"bronze\"} (expected: an object with a field \"tier\")");
    assertThat(deployment.requests()).isEmpty();
    assertThat(deployment.run("tiers", "apply", "none.json").exitCode()).isEqualTo(2);
  }
}
