package dev.tollgate.core.idempotency;

import java.time.Instant;

/**
 * A claim to execute the request of a key.
 *
 * @param key the key
 * @param fingerprint a digest of the request; requests with different fingerprints are different
 * @param owner identifies the attempt, so that only the attempt itself can release the claim
 * @param endsAt when the claim expires, in whole seconds
 */
public record KeyClaim(IdempotencyKey key, String fingerprint, String owner, Instant endsAt) {}
