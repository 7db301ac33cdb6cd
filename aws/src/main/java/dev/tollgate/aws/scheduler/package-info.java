/** Fill schedules in EventBridge Scheduler. May import core, aws, aws.credentials and aws.sqs. */
@NullMarked
package dev.tollgate.aws.scheduler;

import org.jspecify.annotations.NullMarked;
