/** EventBridge Scheduler on one machine: its HTTP API, and an engine that fires what is due. */
@NullMarked
package dev.tollgate.local.scheduler;

import org.jspecify.annotations.NullMarked;
