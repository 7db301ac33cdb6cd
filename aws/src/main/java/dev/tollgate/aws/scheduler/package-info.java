/** Fill schedules in EventBridge Scheduler. May import aws.sqs and aws.credentials. */
@NullMarked
package dev.tollgate.aws.scheduler;

import org.jspecify.annotations.NullMarked;
