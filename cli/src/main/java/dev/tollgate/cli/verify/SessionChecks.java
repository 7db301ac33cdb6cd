package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.verify.Inventory.Tier;
import dev.tollgate.cli.verify.Trial.Connected;
import dev.tollgate.cli.verify.Trial.Session;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks of sessions: how long they last, how many connections they may open, how they end. */
final class SessionChecks {
  /** Answers give times in seconds, and the clocks of two functions differ. */
  private static final Duration INEXACT = Duration.ofSeconds(3);

  private static final Duration REFUSED_WITHIN = Duration.ofSeconds(10);

  private SessionChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "sessions",
            "A session lasts as long as its limits say, opens no more connections than its rate, is"
                + " renewed, and ends with its sockets.",
            Duration.ofSeconds(15),
            SessionChecks::sessions));
  }

  private static void sessions(Trial trial) {
    trial.requireOwnApi(
        "Connections of an attached API open their sessions; no client creates any.");
    int rate = 2;
    String tenant = trial.onboard("", Tier.POOL, Map.of("sessionPerMinute", rate));
    Instant before = serverTime(trial, tenant);
    trial.did("PUT /session");
    JsonNode created = trial.createSession(tenant);
    Instant after = serverTime(trial, tenant);
    expectEnds(trial, created, before, after);
    Session session = new Session(tenant, created.path("sessionId").asText());

    Connected open = trial.connect(session);
    trial.did("open sockets until one is refused");
    trial.expect(
        "sockets admitted with sessionPerMinute " + rate,
        rate,
        1 + AdmissionChecks.drain(trial, session, rate - 1));
    Response shown = send(trial, "GET", session);
    trial.expectStatus("GET /session", 200, shown);
    trial.expect(
        "reason of the refusal", "SESSION_RATE", shown.json().at("/admission/reason").asText());
    expectLimit(trial, shown, "sessionPerMinute", rate);
    for (String limit : List.of("sessionTTL", "sessionLifetime")) {
      expectLimit(trial, shown, limit, limit(limit));
    }

    renew(trial, session, shown.json());
    end(trial, session, open);
  }

  private static int limit(String name) {
    return Inventory.LIMITS.getOrDefault(name, 0);
  }

  private static void expectLimit(Trial trial, Response shown, String limit, int expected) {
    trial.expect(
        "limit " + limit + " of GET /session",
        expected,
        shown.json().at("/limits/" + limit).asInt());
  }

  /** The deployment's own time, because this machine's clock may be wrong. */
  private static Instant serverTime(Trial trial, String tenant) {
    Response activity =
        trial
            .deployment()
            .control(
                "GET", "/activity?" + Api.query(Map.of("tenantIds", tenant)), Optional.empty());
    trial.expectStatus("GET /activity", 200, activity);
    return instant(activity.json(), "at");
  }

  private static Instant instant(JsonNode document, String member) {
    String text = document.path(member).asText();
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      throw new Broken(member, "a time", text);
    }
  }

  /** A token that ends earlier ends its session earlier, so only that is no promise. */
  private static void expectEnds(Trial trial, JsonNode session, Instant before, Instant after) {
    Instant expires = instant(session, "expiresAt");
    Instant lasts = instant(session, "lastsUntil");
    Duration ttl = Duration.ofSeconds(limit("sessionTTL"));
    Duration lifetime = Duration.ofSeconds(limit("sessionLifetime"));
    trial.expectBetween(
        "expiresAt of a new session, in seconds from its creation",
        expires.equals(lasts) ? 0 : ttl.minus(INEXACT).toSeconds(),
        Duration.between(before, after).plus(ttl).plus(INEXACT).toSeconds(),
        Duration.between(before, expires).toSeconds());
    trial.expectBetween(
        "lastsUntil of a new session, in seconds from its creation",
        Duration.between(before, expires).toSeconds(),
        Duration.between(before, after).plus(lifetime).plus(INEXACT).toSeconds(),
        Duration.between(before, lasts).toSeconds());
  }

  private static Response send(Trial trial, String method, Session session) {
    trial.did(method + " /session with its sessionId");
    return trial.deployment().sessions(method, session.tenantId(), Optional.of(session.id()));
  }

  private static void renew(Trial trial, Session session, JsonNode shown) {
    trial.pause(INEXACT);
    Response renewed = send(trial, "PUT", session);
    trial.expectStatus("PUT /session with its sessionId", 200, renewed);
    trial.expect("renewed session", session.id(), renewed.json().path("sessionId").asText());
    Instant expires = instant(renewed.json(), "expiresAt");
    trial.expect(
        "whether the renewal moved expiresAt " + instant(shown, "expiresAt") + " to a later time",
        true,
        expires.isAfter(instant(shown, "expiresAt"))
            || expires.equals(instant(renewed.json(), "lastsUntil")));
  }

  private static void end(Trial trial, Session session, Connected open) {
    trial.expectStatus("DELETE /session", 204, send(trial, "DELETE", session));
    trial.expect(
        "code that closes the open socket",
        "1000",
        TenantChecks.closing(open, trial.bounds().change()));
    trial.expectStatus("GET /session of an ended session", 404, send(trial, "GET", session));
    trial.expectStatus("PUT /session of an ended session", 404, send(trial, "PUT", session));
    trial.await(
        "handshake on an ended session",
        "403",
        REFUSED_WITHIN,
        () -> trial.handshake(session),
        status -> status == 403);
  }
}
