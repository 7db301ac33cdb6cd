/**
 * EventBridge Scheduler: its HTTP API, and an engine that fires schedules when they are due. Knows
 * its targets only by {@link dev.tollgate.local.scheduler.Targets}.
 */
@NullMarked
package dev.tollgate.local.scheduler;

import org.jspecify.annotations.NullMarked;
