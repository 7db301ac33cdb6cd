package dev.tollgate.core.message;

import dev.tollgate.core.session.SessionId;

/** Identifies a message that its client may send again: an id that is unique in its session. */
public record MessageName(SessionId session, String id) {}
