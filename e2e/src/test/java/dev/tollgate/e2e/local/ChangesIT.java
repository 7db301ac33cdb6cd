package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/**
 * A dry run shows exactly what its change does, and a change applies only to the expected version.
 */
final class ChangesIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();

  private static String tier(int perMinute, int connections) {
    return """
        {"isolation": "POOL",
         "limits": {"tenantPerMinute": %d, "sessionPerMinute": 30, "connectionsPerSession": 10,
                    "tenantConnections": %d, "sessionTTL": 200, "messagesPerMinute": 60}}"""
        .formatted(perMinute, connections);
  }

  private static JsonNode tenant(String tenant) {
    return DEPLOYMENT.control("GET", "/tenants/" + tenant).body();
  }

  private static Answer put(String body, String etag) {
    return DEPLOYMENT.send(
        DEPLOYMENT.cloud().outputs().get("ControlPlaneURL") + "/tiers/previewed",
        "PUT",
        body,
        Map.of("content-type", "application/json", "if-match", etag));
  }

  /** The paths in a tenant's document of the values that a dry run would change. */
  private static List<String> paths(JsonNode changes) {
    List<String> paths = new ArrayList<>();
    for (String field : List.of("tier", "isolation")) {
      if (changes.has(field)) {
        paths.add("/" + field);
      }
    }
    changes.path("limits").fieldNames().forEachRemaining(name -> paths.add("/limits/" + name));
    return paths;
  }

  private static void assertApplied(JsonNode changes, JsonNode before, JsonNode after) {
    assertThat(paths(changes)).isNotEmpty();
    for (String path : paths(changes)) {
      assertThat(changes.at(path + "/from")).as(path).isEqualTo(before.at(path));
      assertThat(changes.at(path + "/to")).as(path).isEqualTo(after.at(path));
    }
    for (JsonNode bucket : after.path("buckets")) {
      JsonNode preview = changes.path("buckets").path(bucket.get("action").asText());
      for (String field : List.of("ratePerMinute", "capacity")) {
        if (preview.has(field)) {
          assertThat(preview.at("/" + field + "/to")).isEqualTo(bucket.get(field));
        }
      }
    }
    before
        .path("limits")
        .properties()
        .forEach(
            limit -> {
              boolean same = limit.getValue().equals(after.path("limits").get(limit.getKey()));
              assertThat(changes.path("limits").has(limit.getKey()))
                  .as(limit.getKey())
                  .isEqualTo(!same);
            });
  }

  @Test
  void a_tier_change_does_what_its_dry_run_shows_and_a_stale_etag_is_refused() throws Exception {
    Answer created = DEPLOYMENT.control("PUT", "/tiers/previewed", tier(60, 10));
    assertThat(created.status()).as("%s", created).isEqualTo(201);
    assertThat(created.header("etag")).isEqualTo("\"1\"");
    DEPLOYMENT.onboard("crowded", "previewed", "{}");
    DEPLOYMENT.onboard("idle", "previewed", "{\"tenantConnections\":50}");
    String session = DEPLOYMENT.open("crowded");
    for (int i = 0; i < 3; i++) {
      assertThat(DEPLOYMENT.connect("crowded", session).status()).isEqualTo(101);
    }
    JsonNode crowded = tenant("crowded");
    JsonNode idle = tenant("idle");
    String next = tier(20, 2);

    List<String> written = new ArrayList<>();
    Answer[] dry = new Answer[1];
    DEPLOYMENT
        .requestsOf(() -> dry[0] = DEPLOYMENT.control("PUT", "/tiers/previewed?dryRun=true", next))
        .stream()
        .filter(request -> !LocalDeployment.isForCredentials(request))
        .forEach(request -> written.add(request.operation()));

    assertThat(dry[0].status()).as("%s", dry[0]).isEqualTo(200);
    assertThat(written).isSubsetOf("GetItem", "Query");
    JsonNode preview = dry[0].body();
    assertThat(preview.at("/changes/limits/tenantConnections").toString())
        .isEqualTo("{\"from\":10,\"to\":2}");
    assertThat(preview.get("tenants").findValuesAsText("tenantId"))
        .containsExactly("crowded", "idle");
    JsonNode over = preview.at("/tenants/0/consequences/0");
    assertThat(over.get("kind").asText()).isEqualTo("OVER_LIMIT");
    assertThat(over.get("connections").asInt()).isEqualTo(3);
    assertThat(over.get("value").asInt()).isEqualTo(2);
    assertThat(preview.at("/totals/overLimit").asInt()).isEqualTo(1);
    assertThat(tenant("crowded").get("version")).isEqualTo(crowded.get("version"));

    assertThat(put(next, dry[0].header("etag")).status()).isEqualTo(200);

    assertApplied(preview.at("/tenants/0/changes"), crowded, tenant("crowded"));
    assertApplied(preview.at("/tenants/1/changes"), idle, tenant("idle"));
    assertThat(DEPLOYMENT.connect("crowded", session).status()).isEqualTo(429);
    Answer stale = put(tier(60, 10), dry[0].header("etag"));
    assertThat(stale.status()).isEqualTo(412);
    assertThat(stale.header("content-type")).isEqualTo("application/problem+json");
    assertThat(stale.header("etag")).isEqualTo("\"2\"");
    assertThat(stale.body().get("version").asInt()).isEqualTo(2);
    assertThat(DEPLOYMENT.control("GET", "/tiers/previewed").body().get("rollout").toString())
        .isEqualTo(
            "{\"version\":2,\"rolledOut\":2,\"complete\":true,\"tenants\":2,\"unsettled\":0,"
                + "\"more\":false}");
  }

  @Test
  void a_tenant_change_does_what_its_dry_run_shows() {
    DEPLOYMENT.onboard("mover", "silver", "{}");
    JsonNode before = tenant("mover");
    String bronze = "{\"tier\":\"bronze\",\"overrides\":{\"sessionTTL\":100}}";

    JsonNode preview =
        DEPLOYMENT.control("PATCH", "/tenants/mover?dryRun=true", bronze).body().at("/tenants/0");

    assertThat(tenant("mover").get("tier").asText()).isEqualTo("silver");
    DEPLOYMENT.control("PATCH", "/tenants/mover", bronze);
    assertApplied(preview.get("changes"), before, tenant("mover"));
  }
}
