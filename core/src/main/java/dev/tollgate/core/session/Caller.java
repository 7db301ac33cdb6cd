package dev.tollgate.core.session;

import java.time.Instant;

/**
 * The caller who creates or renews a session, according to the request's token.
 *
 * @param subject the token's subject
 * @param tokenEndsAt when the token expires, to the second; the session ends then at the latest
 */
public record Caller(Subject subject, Instant tokenEndsAt) {}
