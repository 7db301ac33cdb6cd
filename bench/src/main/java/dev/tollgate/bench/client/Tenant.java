package dev.tollgate.bench.client;

import java.net.URI;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** A tenant in the control plane. */
public final class Tenant {
  private final Http http;
  private final String id;
  private final URI address;
  private final URI sessions;
  private final URI sockets;

  Tenant(Http http, String id, URI address, URI sessions, URI sockets) {
    this.http = http;
    this.id = id;
    this.address = address;
    this.sessions = sessions;
    this.sockets = sockets;
  }

  /** The tenant's id. */
  public String id() {
    return id;
  }

  /** The tenant's URL in the control plane. */
  public URI address() {
    return address;
  }

  /** Creates a session. */
  public Session newSession() {
    return session(http.send("PUT", creation(), "").get("sessionId").asText());
  }

  /**
   * Tries to create a session with a token.
   *
   * @return empty if the session API refuses
   */
  public Optional<Session> tryNewSession(String token) {
    HttpResponse<String> answer =
        http.answer("PUT", creation(), "", Map.of("Authorization", "Bearer " + token));
    return answer.statusCode() == 201
        ? Optional.of(session(Http.read(answer.body()).get("sessionId").asText()))
        : Optional.empty();
  }

  /** A session id that was never created. */
  public Session madeUpSession() {
    return session(
        "%016x%016x"
            .formatted(
                ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong()));
  }

  /** Suspends the tenant. */
  public void suspend() {
    var unused = http.send("PATCH", address, "{\"status\": \"SUSPENDED\"}");
  }

  /** Moves the tenant to another tier. */
  public void move(String tier) {
    var unused = http.send("PATCH", address, "{\"tier\": \"%s\"}".formatted(tier));
  }

  /**
   * Creates sessions. Where the session API refuses because there were too many in a short time,
   * waits for as long as it says.
   */
  public List<Session> newSessions(int count) throws InterruptedException {
    List<Session> created = new ArrayList<>();
    while (created.size() < count) {
      HttpResponse<String> answer = http.answer("PUT", creation(), "", Map.of());
      if (answer.statusCode() == 201) {
        created.add(session(Http.read(answer.body()).get("sessionId").asText()));
      } else if (answer.statusCode() == 429) {
        Thread.sleep(1_000 * answer.headers().firstValueAsLong("Retry-After").orElse(1));
      } else {
        throw new IllegalStateException(
            "PUT %s: %d %s (expected: 201)"
                .formatted(creation(), answer.statusCode(), answer.body()));
      }
    }
    return created;
  }

  private URI creation() {
    return URI.create(sessions + "?tenantId=" + id);
  }

  private Session session(String sessionId) {
    String query = "?tenantId=" + id + "&sessionId=" + sessionId;
    return new Session(http, URI.create(sessions + query), URI.create(sockets + query));
  }

  /** The number of connections that the control plane counts. */
  public int connections() {
    return http.get(address).get("connections").asInt();
  }
}
