package dev.tollgate.socket;

import java.net.URI;
import java.util.Objects;

/**
 * A session of a tenant. Its id is a secret: whoever knows it can open sockets on the session.
 *
 * @param tenantId the tenant
 * @param sessionId the id, which {@link #toString} leaves out
 * @param webSocketUrl where sockets of the session are opened, without the parameters
 */
public record Session(String tenantId, String sessionId, URI webSocketUrl) {
  /** Checks that nothing is missing. */
  public Session {
    Objects.requireNonNull(tenantId, "tenantId");
    Objects.requireNonNull(sessionId, "sessionId");
    Objects.requireNonNull(webSocketUrl, "webSocketUrl");
  }

  /** The address of a handshake. */
  URI address() {
    String query = "tenantId=" + SessionApi.encode(tenantId);
    query += "&sessionId=" + SessionApi.encode(sessionId);
    return URI.create(webSocketUrl + (webSocketUrl.getRawQuery() == null ? "?" : "&") + query);
  }

  @Override
  public String toString() {
    return "Session[tenantId=" + tenantId + ", webSocketUrl=" + webSocketUrl + "]";
  }
}
