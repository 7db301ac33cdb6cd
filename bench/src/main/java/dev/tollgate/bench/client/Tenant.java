package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URI;
import java.util.stream.StreamSupport;

/** A tenant as the operator sees it. */
public final class Tenant {
  private final Http http;
  private final String id;
  private final URI address;
  private final URI sessions;

  Tenant(Http http, String id, URI address, URI sessions) {
    this.http = http;
    this.id = id;
    this.address = address;
    this.sessions = sessions;
  }

  /** Its id. */
  public String id() {
    return id;
  }

  URI address() {
    return address;
  }

  /** Creates a session. */
  public Session newSession() {
    URI uri = URI.create(sessions + "?tenantId=" + id);
    JsonNode created = http.send("PUT", uri, "");
    String query = "?tenantId=" + id + "&sessionId=" + created.get("sessionId").asText();
    return new Session(
        http,
        URI.create(sessions + query),
        URI.create(created.get("webSocketUrl").asText() + query));
  }

  /** How many connections the control plane counts. */
  public int connections() {
    return http.get(address).get("connections").asInt();
  }

  /**
   * The state of one of its buckets, such as {@code ACTIVE} or {@code HIBERNATING}.
   *
   * @throws IllegalArgumentException if it has no bucket for the action
   */
  public String bucketState(String action) {
    return StreamSupport.stream(http.get(address).get("buckets").spliterator(), false)
        .filter(bucket -> bucket.get("action").asText().equals(action))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("action: " + action + " (expected: a bucket's)"))
        .get("state")
        .asText();
  }
}
