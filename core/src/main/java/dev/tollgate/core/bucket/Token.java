package dev.tollgate.core.bucket;

import java.time.Instant;

/**
 * The right to do a bucket's action once. Tokens are alike; their ids are for the logs alone.
 *
 * @param id unique
 * @param bucket where it belongs
 * @param mintedAt when it was made
 * @param dueAt when it can be claimed; at once if that is not later than now. A queue delays by
 *     whole seconds, so the token appears less than a second later, and never earlier
 */
public record Token(String id, BucketId bucket, Instant mintedAt, Instant dueAt) {}
