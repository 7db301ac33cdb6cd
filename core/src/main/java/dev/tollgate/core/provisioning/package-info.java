/** What a tenant needs to exist: its queues and schedules, and its function if it has its own. */
@NullMarked
package dev.tollgate.core.provisioning;

import org.jspecify.annotations.NullMarked;
