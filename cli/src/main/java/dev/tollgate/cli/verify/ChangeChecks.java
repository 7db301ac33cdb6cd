package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.verify.Inventory.Tier;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks of how the control plane takes changes, and of what it lists. */
final class ChangeChecks {
  /** A version that neither a tenant nor a tier of a run reaches. */
  private static final Map<String, String> OTHER_VERSION = Map.of("If-Match", "\"999999\"");

  private static final String PREVIEW = "?dryRun=true";

  private ChangeChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "changes",
            "A repeated request gets the first answer, dry runs and changes of another version"
                + " change nothing, and lists show what stands.",
            Duration.ofSeconds(10),
            ChangeChecks::changes));
  }

  private static void changes(Trial trial) {
    String tenant = onboardOnce(trial);
    Changed changed = new Changed(trial, tenant);
    JsonNode tenantBefore = trial.tenant(tenant);
    JsonNode tierBefore = changed.tier();
    for (Map.Entry<String, Integer> limit : Inventory.LIMITS.entrySet()) {
      trial.expect(
          "limit " + limit.getKey() + " of GET /tiers",
          limit.getValue(),
          tierBefore.at("/limits/" + limit.getKey()).asInt());
    }
    lists(trial, tenant);

    changed.preview();
    changed.ofOtherVersion();
    trial.expect(
        "tenant after dry runs and changes of another version",
        desired(tenantBefore),
        desired(trial.tenant(tenant)));
    trial.expect(
        "tier after dry runs and changes of another version",
        Json.write(tierBefore.path("limits")) + tierBefore.path("version"),
        Json.write(changed.tier().path("limits")) + changed.tier().path("version"));

    changed.ofThisVersion(tenantBefore.path("version").asLong());
  }

  /** Onboards a tenant with an idempotency key. */
  private static String onboardOnce(Trial trial) {
    String tenant = trial.tenantId("");
    Map<String, String> key = Map.of("Idempotency-Key", "\"" + tenant + "\"");
    Map<String, Integer> overrides = Map.of("tenantConnections", 7);
    trial.did("POST /tenants " + tenant + ", three times with one Idempotency-Key");
    Response first = trial.submit(tenant, Tier.POOL, overrides, key);
    trial.expectStatus("POST /tenants", 201, first);
    Response again = trial.submit(tenant, Tier.POOL, overrides, key);
    trial.expectStatus("POST /tenants, repeated with its Idempotency-Key", 201, again);
    trial.expect(
        "whether the repetition has Idempotency-Replayed",
        true,
        again.headers().firstValue("Idempotency-Replayed").isPresent());
    trial.expect("answer to the repetition", first.body(), again.body());
    trial.expectStatus(
        "POST /tenants, with the Idempotency-Key of another body",
        422,
        trial.submit(tenant, Tier.SLOW, Map.of(), key));
    return tenant;
  }

  private static void lists(Trial trial, String tenant) {
    trial.did("GET /tenants and GET /activity");
    Map<String, String> filters = new LinkedHashMap<>();
    filters.put("prefix", tenant);
    filters.put("tier", trial.inventory().name(Tier.POOL));
    trial.await(
        "tenants with prefix " + tenant + " and tier " + trial.inventory().name(Tier.POOL),
        List.of(tenant).toString(),
        trial.bounds().frame(),
        () -> listed(trial, filters),
        List.of(tenant)::equals);
    Response activity =
        trial
            .deployment()
            .control(
                "GET", "/activity?" + Api.query(Map.of("tenantIds", tenant)), Optional.empty());
    trial.expectStatus("GET /activity", 200, activity);
    trial.expect(
        "tenants of GET /activity",
        List.of(tenant),
        activity.json().path("tenants").findValuesAsText("tenantId"));
  }

  /** The first tenants of a list. A part of a search may be empty although others follow. */
  private static List<String> listed(Trial trial, Map<String, String> filters) {
    PageIterator pages =
        new PageIterator(
            cursor -> {
              Map<String, String> query = new LinkedHashMap<>(filters);
              query.putAll(cursor);
              Response part =
                  trial
                      .deployment()
                      .control("GET", "/tenants?" + Api.query(query), Optional.empty());
              trial.expectStatus("GET /tenants", 200, part);
              return part.json();
            });
    List<String> tenants = List.of();
    while (tenants.isEmpty() && pages.hasNext()) {
      tenants = pages.next().path("tenants").findValuesAsText("tenantId");
    }
    return tenants;
  }

  /** What is desired of a tenant, without what happens to it. */
  private static String desired(JsonNode tenant) {
    return "version %s, tier %s, status %s, overrides %s"
        .formatted(
            tenant.path("version"),
            tenant.path("tier"),
            tenant.path("status"),
            tenant.path("overrides"));
  }

  /** Changes of a tenant and its tier. */
  private record Changed(Trial trial, String tenant) {
    private String path() {
      return Paths.tenant(tenant);
    }

    private String pathOfTier() {
      return Paths.tier(trial.inventory().name(Tier.POOL));
    }

    /** A change that other checks do not notice, should it be made. */
    private static Optional<JsonNode> otherTier() {
      ObjectNode tier = Tier.POOL.document();
      tier.withObject("/limits").put("sessionsPerSubject", 99);
      return Optional.of(tier);
    }

    JsonNode tier() {
      Response shown = trial.deployment().control("GET", pathOfTier(), Optional.empty());
      trial.expectStatus("GET /tiers/{tier}", 200, shown);
      return shown.json();
    }

    private Response send(
        String method, String path, Optional<JsonNode> body, Map<String, String> headers) {
      trial.did(method + " " + path + " " + headers);
      return trial.deployment().control(method, path, body, headers);
    }

    private void expectPreview(
        String outcome, String method, String path, Optional<JsonNode> body) {
      Response preview = send(method, path + PREVIEW, body, Map.of());
      trial.expectStatus(method + " with dryRun", 200, preview);
      trial.expect(
          "outcome of " + method + " with dryRun",
          outcome,
          preview.json().path("outcome").asText());
    }

    void preview() {
      String slow = trial.inventory().name(Tier.SLOW);
      expectPreview("CHANGED", "PATCH", path(), Optional.of(Json.object().put("tier", slow)));
      expectPreview("REMOVED", "DELETE", path(), Optional.empty());
      expectPreview("CHANGED", "PUT", pathOfTier(), otherTier());
      trial.expectStatus(
          "DELETE of a tier in use with dryRun",
          409,
          send("DELETE", pathOfTier() + PREVIEW, Optional.empty(), Map.of()));
    }

    void ofOtherVersion() {
      Optional<JsonNode> suspended = Optional.of(Json.object().put("status", "SUSPENDED"));
      expectOtherVersion("PATCH", path(), suspended);
      expectOtherVersion("DELETE", path(), Optional.empty());
      expectOtherVersion("PUT", pathOfTier(), otherTier());
    }

    private void expectOtherVersion(String method, String path, Optional<JsonNode> body) {
      trial.expectStatus(
          method + " with If-Match of another version",
          412,
          send(method, path, body, OTHER_VERSION));
    }

    void ofThisVersion(long version) {
      Response changed =
          send(
              "PATCH",
              path(),
              Optional.of(Json.object().set("overrides", Json.object())),
              Map.of("If-Match", "\"" + version + "\""));
      trial.expectStatus("PATCH with If-Match of this version", 200, changed);
      trial.expect(
          "overrides after PATCH with If-Match of this version",
          "{}",
          Json.write(changed.json().path("overrides")));
    }
  }
}
