package dev.tollgate.core.message;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;

/**
 * A message of a tenant's client.
 *
 * @param tenant whose client sent it
 * @param session the session that it was sent in
 * @param connectionId the socket that it was sent on
 * @param id the client's name for it if it gave one, else the queue's; the same each time it comes
 * @param json the JSON text that was sent, byte for byte
 */
public record TenantMessage(
    TenantId tenant, SessionId session, String connectionId, String id, String json) {}
