package dev.tollgate.handlers.session;

import java.util.Map;
import java.util.Optional;

/**
 * The deployment's settings for the session API.
 *
 * @param webSocketUrl the URL at which clients open sockets
 * @param listsTenants whether the API lists the ids of all tenants to any caller
 * @param tenantClaim the token claim that names the tenant of the caller; empty if requests need no
 *     token
 */
record SessionSettings(String webSocketUrl, boolean listsTenants, Optional<String> tenantClaim) {
  private static final String WEBSOCKET_URL = "WEBSOCKET_URL";
  private static final String LIST_TENANTS = "LIST_TENANTS";
  private static final String TENANT_CLAIM = "TENANT_CLAIM";

  /**
   * Reads the settings from environment variables.
   *
   * @throws IllegalStateException if the URL is missing
   */
  static SessionSettings of(Map<String, String> environment) {
    return new SessionSettings(
        Optional.ofNullable(environment.get(WEBSOCKET_URL))
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "Environment variable " + WEBSOCKET_URL + " is not set.")),
        Boolean.parseBoolean(environment.getOrDefault(LIST_TENANTS, "false")),
        Optional.ofNullable(environment.get(TENANT_CLAIM)));
  }
}
