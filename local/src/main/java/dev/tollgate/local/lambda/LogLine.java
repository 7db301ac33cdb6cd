package dev.tollgate.local.lambda;

import java.time.Instant;

/**
 * One entry in the log of a function: what it logged itself, or how an invocation failed.
 *
 * @param time when it was written, by the clock of the host
 * @param function name of the function
 * @param requestId the invocation
 * @param message the text
 */
public record LogLine(Instant time, String function, String requestId, String message) {}
