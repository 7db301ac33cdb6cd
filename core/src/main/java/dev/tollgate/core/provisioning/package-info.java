/** What a tenant needs to exist: its queues and schedules. */
@NullMarked
package dev.tollgate.core.provisioning;

import org.jspecify.annotations.NullMarked;
