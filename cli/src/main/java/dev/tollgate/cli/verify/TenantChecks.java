package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.PageIterator;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.verify.Inventory.Tier;
import dev.tollgate.cli.verify.Trial.Connected;
import dev.tollgate.cli.verify.Trial.Session;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks of the control plane: what happens to tenants, and how soon. */
final class TenantChecks {
  /** A page of the drift report a fifth of a second, as {@code tollgate doctor} reads it. */
  private static final Duration BETWEEN_PAGES = Duration.ofMillis(200);

  /** A large deployment has more drift pages than a verification should wait for. */
  private static final Duration LONGEST_WALK = Duration.ofMinutes(3);

  private TenantChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "onboard",
            "One request onboards a tenant: its buckets are full, and its clients are admitted.",
            Duration.ofSeconds(60),
            TenantChecks::onboard),
        new Check(
            "retune",
            "A tier change applies to buckets at the next fill: first fewer tokens, then more.",
            Duration.ofSeconds(150),
            TenantChecks::retune),
        new Check(
            "suspend",
            "A suspended tenant is refused and its sockets are closed, until it is activated.",
            Duration.ofSeconds(30),
            TenantChecks::suspend),
        new Check(
            "doctor",
            "The doctor reads all tenants, queues and schedules, and finds no drift in a new"
                + " tenant.",
            Duration.ofSeconds(30),
            TenantChecks::doctor),
        new Check(
            "offboard",
            "Offboarding closes a tenant's sockets, refuses its clients, and removes it.",
            Duration.ofSeconds(60),
            TenantChecks::offboard));
  }

  private static void onboard(Trial trial) {
    String tenant = trial.tenantId("");
    long start = trial.nanoTime();
    trial.did("POST /tenants " + tenant);
    Response created = trial.submit(tenant, Tier.POOL, Map.of("tenantConnections", 7));
    trial.expectStatus("POST /tenants", 201, created);
    trial.expect(
        "tenantConnections of the new tenant",
        7,
        created.json().at("/limits/tenantConnections").asInt());
    trial.awaitFull(tenant);
    trial.figure("buckets full after", trial.since(start));
    Session session = trial.session(tenant);
    trial.connect(session);
    trial.figure("first client admitted after", trial.since(start));
    trial.did("POST the same tenant again, then with another tier");
    trial.expectStatus(
        "POST /tenants, repeated",
        200,
        trial.submit(tenant, Tier.POOL, Map.of("tenantConnections", 7)));
    trial.expectStatus(
        "POST /tenants with another tier", 409, trial.submit(tenant, Tier.SLOW, Map.of()));
  }

  private static void retune(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    trial.awaitFull(tenant);
    trial.change(tenant, Json.object().put("tier", trial.inventory().name(Tier.SLOW)));
    trial.expect(
        "rate of bucket connect after the change",
        Inventory.SLOW_RATE,
        trial.bucket(tenant, "connect").path("ratePerMinute").asInt());
    Duration trimmed =
        trial.await(
            "level of bucket connect",
            "at most the new capacity of " + Inventory.SLOW_RATE,
            trial.bounds().change(),
            () -> trial.bucket(tenant, "connect").path("level").asInt(),
            level -> level <= Inventory.SLOW_RATE);
    trial.figure("tokens above the new capacity removed after", trimmed);
    trial.change(tenant, Json.object().put("tier", trial.inventory().name(Tier.POOL)));
    int wanted = 2 * Inventory.SLOW_RATE;
    Duration raised =
        trial.await(
            "level of bucket connect",
            "at least " + wanted,
            trial.bounds().change(),
            () -> trial.bucket(tenant, "connect").path("level").asInt(),
            level -> level >= wanted);
    trial.figure("filled beyond the old capacity after", raised);
  }

  private static void suspend(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    Session session = trial.session(tenant);
    Connected open = trial.connect(session);
    long start = trial.nanoTime();
    trial.change(tenant, Json.object().put("status", "SUSPENDED"));
    trial.await(
        "handshake of a suspended tenant",
        "403",
        Duration.ofSeconds(10),
        () -> trial.handshake(session),
        status -> status == 403);
    trial.figure("handshakes refused after", trial.since(start));
    if (!trial.isAttached()) {
      trial.expectStatus(
          "PUT /session of a suspended tenant",
          403,
          trial.deployment().sessions("PUT", tenant, Optional.empty()));
    }
    trial.expect(
        "code that closes the open socket", "1000", closing(open, trial.bounds().change()));
    trial.change(tenant, Json.object().put("status", "ACTIVE"));
    trial.did("open a socket on a new session");
    trial.connect(trial.session(tenant));
  }

  static String closing(Connected open, Duration limit) {
    var code = open.client().awaitClosed(limit);
    return code.isPresent() ? String.valueOf(code.getAsInt()) : "still open";
  }

  private static JsonNode drift(Trial trial, String query) {
    Response page = trial.deployment().control("GET", "/drift" + query, Optional.empty());
    trial.expectStatus("GET /drift", 200, page);
    return page.json();
  }

  private static void doctor(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    trial.did("read all pages of GET /drift");
    Map<String, Long> checked = new LinkedHashMap<>();
    List<String> own = new ArrayList<>();
    int others = 0;
    long start = trial.nanoTime();
    PageIterator pages = new PageIterator(cursor -> drift(trial, Api.suffix(cursor)));
    while (pages.hasNext()) {
      JsonNode document = pages.next();
      for (JsonNode finding : document.path("findings")) {
        if (finding.path("name").asText().contains(tenant)) {
          own.add(Json.write(finding));
        } else {
          others++;
        }
      }
      checked.merge(
          document.path("resources").asText(), document.path("checked").asLong(), Long::sum);
      if (pages.hasNext()) {
        if (trial.since(start).compareTo(LONGEST_WALK) > 0) {
          throw new Trial.Undecidable(
              "The walk was not finished within %d s: %s. Run `tollgate doctor` instead."
                  .formatted(LONGEST_WALK.toSeconds(), checked));
        }
        trial.pause(BETWEEN_PAGES);
      }
    }
    checked.forEach((resources, count) -> trial.figure(resources + " checked", count));
    trial.figure("findings that concern others", others);
    trial.expect("findings about " + tenant, List.of(), own);
    for (String resources : List.of("tenants", "queues", "schedules")) {
      trial.expect(
          "whether the doctor checked " + resources, true, checked.getOrDefault(resources, 0L) > 0);
    }
  }

  private static void offboard(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    Session session = trial.session(tenant);
    Connected open = trial.connect(session);
    trial.did("DELETE /tenants/" + tenant);
    long start = trial.nanoTime();
    Response deleted = trial.offboard(tenant);
    trial.expectBetween("status of DELETE /tenants", 202, 204, deleted.status());
    trial.expect(
        "code that closes the open socket", "1000", closing(open, trial.bounds().change()));
    trial.await(
        "handshake of an offboarded tenant",
        "403",
        Duration.ofSeconds(10),
        () -> trial.handshake(session),
        status -> status == 403);
    trial.await(
        "DELETE /tenants, repeated until nothing is left",
        "204",
        trial.bounds().removal(),
        () -> trial.offboard(tenant).status(),
        status -> status == 204);
    trial.figure("removed after", trial.since(start));
    trial.expectStatus("GET /tenants/" + tenant, 404, trial.show(tenant));
  }
}
