package dev.tollgate.bench.client;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * When a session should try to connect.
 *
 * @param retryAfter how long it should wait, in whole seconds; zero if it may try now
 * @param nextAttemptAt the exact time; absent if it may try now, or if waiting does not help
 */
public record Advice(Duration retryAfter, Optional<Instant> nextAttemptAt) {}
