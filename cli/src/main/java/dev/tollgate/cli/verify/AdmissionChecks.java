package dev.tollgate.cli.verify;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.verify.Inventory.Tier;
import dev.tollgate.cli.verify.Trial.Connected;
import dev.tollgate.cli.verify.Trial.Session;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Checks of admission: who is refused, when tokens come, and what is counted. */
final class AdmissionChecks {
  /** A drained bucket gives its next token at most this much later than an ideal bucket. */
  private static final Duration LATENESS = Duration.ofSeconds(2);

  private static final Duration ATTEMPT_EVERY = Duration.ofSeconds(1);

  /**
   * The tokens of two minutes: the fewest for which twice the promised rate exceeds the bound of
   * capacity, rate and one minute's tokens.
   */
  private static final int TOKENS = 2 * Inventory.SLOW_RATE;

  /**
   * How often a token is asked for when it must be there. A receive from a queue with few messages
   * may find none (SQS Developer Guide, "Short and long polling"), so one refusal proves nothing.
   */
  private static final int ATTEMPTS = 3;

  /**
   * Shorter than the 35 s after which the housekeeper checks quiet connections: so only the {@code
   * $disconnect} function can have lowered the count.
   */
  private static final Duration DISCONNECT = Duration.ofSeconds(30);

  private static final int UNKNOWN_SESSION_DIGITS = 32;

  private AdmissionChecks() {}

  static List<Check> all() {
    return List.of(
        new Check(
            "refusal",
            "A client without a token is refused, and admitted after the Retry-After it was told.",
            Duration.ofSeconds(25),
            AdmissionChecks::refusal),
        new Check(
            "race",
            "Of many concurrent handshakes for the last places, exactly as many as fit are"
                + " admitted.",
            Duration.ofSeconds(15),
            AdmissionChecks::race),
        new Check(
            "limits",
            "The client sees 429 at each limit, and 401 or 403 for a handshake that is invalid.",
            Duration.ofSeconds(15),
            AdmissionChecks::limits),
        new Check(
            "due",
            "A drained bucket gives each token at most 2 s late, and no more tokens than its rate.",
            Duration.ofSeconds(145),
            AdmissionChecks::due),
        new Check(
            "disconnect",
            "$disconnect gets its authorizer context: a closed socket lowers the tenant's count.",
            Duration.ofSeconds(15),
            AdmissionChecks::disconnect));
  }

  /**
   * Opens sockets until one is refused although no token looked missing.
   *
   * @return the number of admitted sockets
   */
  static int drain(Trial trial, Session session, int capacity) {
    int admitted = 0;
    int early = 0;
    while (true) {
      if (trial.handshake(session) == 101) {
        admitted++;
        if (admitted > capacity) {
          return admitted;
        }
      } else if (admitted == capacity || early++ == capacity) {
        return admitted;
      } else {
        trial.pause(ATTEMPT_EVERY);
      }
    }
  }

  private static void refusal(Trial trial) {
    int rate = 4;
    String tenant = trial.onboard("", Tier.POOL, Map.of("tenantPerMinute", rate));
    Session session = trial.session(tenant);
    trial.did("open sockets until one is refused");
    trial.expect("sockets admitted with " + rate + " tokens", rate, drain(trial, session, rate));

    Duration retryAfter = trial.isAttached() ? untilToken(trial, tenant) : told(trial, session);
    trial.figure("Retry-After", retryAfter);
    trial.expectBetween(
        "Retry-After in seconds", 1, 60 / rate + LATENESS.toSeconds(), retryAfter.toSeconds());
    trial.did("come back after " + retryAfter.toSeconds() + " s");
    trial.pause(retryAfter);
    trial.expect("handshake after Retry-After", 101, trial.handshake(session));
  }

  /** The operator is told when the next token is due; a client of an attached API is not. */
  private static Duration untilToken(Trial trial, String tenant) {
    JsonNode activity = activity(trial, tenant);
    String due = connectBucket(activity.path("tenants").path(0)).path("nextTokenAt").asText();
    trial.figure("next token due at", due);
    // One second more, because times are whole seconds.
    return Duration.between(Instant.parse(activity.path("at").asText()), Instant.parse(due))
        .plusSeconds(1);
  }

  private static JsonNode activity(Trial trial, String tenant) {
    Response activity =
        trial
            .deployment()
            .control(
                "GET", "/activity?" + Api.query(Map.of("tenantIds", tenant)), Optional.empty());
    trial.expectStatus("GET /activity", 200, activity);
    return activity.json();
  }

  private static JsonNode connectBucket(JsonNode tenant) {
    return tenant
        .path("buckets")
        .valueStream()
        .filter(bucket -> bucket.path("action").asText().equals("connect"))
        .findFirst()
        .orElseThrow(() -> new Broken("buckets", "one for connect", Json.write(tenant)));
  }

  private static Duration told(Trial trial, Session session) {
    Response shown =
        trial.deployment().sessions("GET", session.tenantId(), Optional.of(session.id()));
    trial.expectStatus("GET /session", 200, shown);
    JsonNode admission = shown.json().path("admission");
    trial.expect("reason of the refusal", "TENANT_RATE", admission.path("reason").asText());
    for (String header : List.of("RateLimit", "RateLimit-Policy")) {
      trial.expect(
          "header " + header + " of GET /session",
          true,
          shown.headers().firstValue(header).isPresent());
    }
    return shown.retryAfter().orElseThrow(() -> new Broken("Retry-After", "seconds", "no header"));
  }

  private static void race(Trial trial) {
    int cap = 5;
    int contenders = 20;
    int volleys = 3;
    String tenant = trial.onboard("", Tier.POOL, Map.of("tenantConnections", cap));
    List<Session> sessions = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      sessions.add(trial.session(tenant));
    }
    int admitted = 0;
    for (int volley = 1; volley <= volleys; volley++) {
      trial.did(contenders + " concurrent handshakes for " + (cap - admitted) + " places");
      List<Integer> statuses = trial.handshakes(contenders, sessions);
      int opened = Collections.frequency(statuses, 101);
      trial.figure("admitted in volley " + volley, opened);
      admitted += opened;
      trial.expectBetween("sockets admitted for " + cap + " places", 0, cap, admitted);
      trial.expect(
          "handshakes that ended with neither 101 nor a refusal",
          0L,
          statuses.stream().filter(status -> status != 101 && status / 100 != 4).count());
    }
    trial.expect("sockets admitted for " + cap + " places", cap, admitted);
    trial.await(
        "connections that GET /tenants counts",
        String.valueOf(cap),
        DISCONNECT,
        () -> trial.connections(tenant),
        count -> count == cap);
  }

  private static void limits(Trial trial) {
    String limit = trial.isAttached() ? "tenantConnections" : "connectionsPerSession";
    String full = trial.onboard("", Tier.POOL, Map.of(limit, 1));
    Session session = trial.session(full);
    trial.connect(session);
    trial.did("open a second socket where one is allowed");
    trial.expect("handshake over " + limit, 429, trial.handshake(session));

    String drained = trial.onboard("-rate", Tier.SLOW, Map.of("tenantPerMinute", 1));
    Session late = trial.session(drained);
    trial.connect(late);
    trial.did("open a second socket of a tenant that had one token");
    trial.expect("handshake over tenantPerMinute", 429, trial.handshake(late));

    if (trial.isAttached()) {
      trial.did("open sockets without a tenant, and of an unknown one");
      trial.expect("handshake without a tenant", 401, trial.handshake(Map.of()));
      trial.expect(
          "handshake of an unknown tenant",
          403,
          trial.handshake(trial.session(trial.tenantId("-none"))));
      return;
    }
    trial.did("open sockets with a missing parameter, and with an unknown session");
    trial.expect("handshake without sessionId", 401, trial.handshake(Map.of("tenantId", full)));
    trial.expect(
        "handshake with an unknown session",
        403,
        trial.handshake(new Session(full, "0".repeat(UNKNOWN_SESSION_DIGITS))));
  }

  private static void due(Trial trial) {
    int rate = Inventory.SLOW_RATE;
    String tenant = trial.onboard("", Tier.SLOW, Map.of());
    Session session = trial.session(tenant);
    trial.did("drain the bucket of " + rate + " tokens");
    trial.connect(session);
    // From here on, an ideal bucket is not full and its next token is on the way.
    long first = trial.nanoTime();
    int drained = 1 + drain(trial, session, rate - 1);
    trial.expect("tokens in the full bucket", rate, drained);

    Duration tokenEvery = Duration.ofSeconds(60 / rate);
    trial.did("one handshake when each of the next " + TOKENS + " tokens must be there");
    int most = 2 * rate + TOKENS;
    int admitted = drained;
    Duration latest = Duration.ZERO;
    for (int token = 1; token <= TOKENS; token++) {
      Duration due = tokenEvery.multipliedBy(token);
      trial.pause(due.plus(LATENESS).minus(trial.since(first)));
      Duration late = trial.since(first).minus(due);
      for (int attempt = 1; trial.handshake(session) != 101; attempt++) {
        if (attempt == ATTEMPTS) {
          throw new Broken(
              "token " + token + " after the bucket was drained",
              "at most " + Trial.seconds(LATENESS) + " late",
              "not there " + Trial.seconds(late) + " after it was due");
        }
        trial.repeatHandshake();
        late = trial.since(first).minus(due);
      }
      latest = late.compareTo(latest) > 0 ? late : latest;
      admitted++;
      while (admitted <= most && trial.handshake(session) == 101) {
        admitted++;
      }
      trial.closeSockets();
    }
    trial.figure("latest admission after a due time, asked for 2 s after it", latest);
    trial.figure("tokens in " + trial.since(first).toSeconds() + " s", admitted);
    trial.expectBetween(
        "tokens while " + TOKENS + " were due, with the full bucket",
        drained + TOKENS,
        most,
        admitted);
    expectTokensForConnections(trial, tenant);
  }

  /** Of the connections that were admitted with a token, there are no more than tokens. */
  private static void expectTokensForConnections(Trial trial, String tenant) {
    JsonNode seen = activity(trial, tenant).path("tenants").path(0);
    long withToken = seen.path("admitted").asLong() - seen.path("withoutToken").asLong();
    long minted = connectBucket(seen).path("minted").asLong();
    trial.figure("tokens minted, and connections admitted with one", minted + ", " + withToken);
    trial.expectBetween("connections admitted with a token", 1, minted, withToken);
  }

  private static void disconnect(Trial trial) {
    String tenant = trial.onboard("", Tier.POOL, Map.of());
    Session session = trial.session(tenant);
    Connected staying = trial.connect(session);
    Connected leaving = trial.connect(session);
    trial.await(
        "connections after two handshakes",
        "2",
        DISCONNECT,
        () -> trial.connections(tenant),
        count -> count == 2);
    trial.did("close one of two sockets");
    leaving.socket().close();
    Duration lowered =
        trial.await(
            "connections after one socket was closed",
            "1",
            DISCONNECT,
            () -> trial.connections(tenant),
            count -> count == 1);
    trial.figure("count lowered after", lowered);
    if (!trial.isAttached()) { // The application may send frames.
      trial.expect("frames on the socket that stays open", List.of(), staying.client().frames());
    }
  }
}
