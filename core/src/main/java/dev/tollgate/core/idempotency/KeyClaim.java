package dev.tollgate.core.idempotency;

import java.time.Instant;

/**
 * Somebody's claim to do the request that a key names.
 *
 * @param key what names the request
 * @param fingerprint what the request asks for; two with another one are not the same request
 * @param owner who claims it, so that nobody else ends the claim; another one for each attempt
 * @param endsAt when it is over, in whole seconds, whatever became of its owner
 */
public record KeyClaim(IdempotencyKey key, String fingerprint, String owner, Instant endsAt) {}
