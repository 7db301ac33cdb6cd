package dev.tollgate.core.session;

import java.time.Instant;

/**
 * Who creates or renews a session, as the request's token says.
 *
 * @param subject the token's subject
 * @param tokenEndsAt when the token expires, to the second; the session is over then at the latest
 */
public record Caller(Subject subject, Instant tokenEndsAt) {}
