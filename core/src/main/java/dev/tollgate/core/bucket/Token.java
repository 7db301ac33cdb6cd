package dev.tollgate.core.bucket;

import java.time.Instant;

/**
 * The right to do a bucket's action once. Tokens are interchangeable; their ids are only for logs.
 *
 * @param id a unique id
 * @param bucket the bucket of the token
 * @param mintedAt when it was minted
 * @param dueAt when it can be claimed. A queue delays by whole seconds, so the token appears up to
 *     a second later and never earlier
 */
public record Token(String id, BucketId bucket, Instant mintedAt, Instant dueAt) {}
