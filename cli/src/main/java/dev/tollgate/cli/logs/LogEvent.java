package dev.tollgate.cli.logs;

import java.time.Instant;

/**
 * One event of a log group.
 *
 * @param id identifies the event in all answers of CloudWatch Logs
 * @param time when the function wrote it, in whole milliseconds
 * @param function the function's name; of a silo tenant's function, {@code silo_TENANT}
 * @param message the text, which may have several lines
 */
record LogEvent(String id, Instant time, String function, String message) {}
