package dev.tollgate.message;

/**
 * A message that a tenant's client sent.
 *
 * @param tenantId the tenant of the client
 * @param sessionId the session of the client; a secret, because it suffices to open a socket
 * @param connectionId the socket on which the message was sent
 * @param id the client's id of the message, or else the queue's; the same for repeated deliveries
 * @param json the JSON text of the message, byte for byte
 */
public record TenantMessage(
    String tenantId, String sessionId, String connectionId, String id, String json) {}
