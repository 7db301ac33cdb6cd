package dev.tollgate.message;

/**
 * A message of a tenant's client.
 *
 * @param tenantId the tenant whose client sent it
 * @param sessionId the session that it was sent in; a secret, since it is all that a handshake
 *     needs
 * @param connectionId the socket that it was sent on
 * @param id the client's name for it if it gave one, else the queue's; the same each time it comes
 * @param json the JSON text that was sent, byte for byte
 */
public record TenantMessage(
    String tenantId, String sessionId, String connectionId, String id, String json) {}
