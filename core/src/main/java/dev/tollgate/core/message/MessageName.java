package dev.tollgate.core.message;

import dev.tollgate.core.session.SessionId;

/**
 * The name that a client gave a message, so that it can send the message again: an id that is used
 * once in its session.
 */
public record MessageName(SessionId session, String id) {}
