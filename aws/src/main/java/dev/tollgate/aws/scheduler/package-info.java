/** Fill schedules in EventBridge Scheduler. */
@NullMarked
package dev.tollgate.aws.scheduler;

import org.jspecify.annotations.NullMarked;
