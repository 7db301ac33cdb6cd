/** Token queues and silo message queues in SQS. May import core, aws and aws.credentials. */
@NullMarked
package dev.tollgate.aws.sqs;

import org.jspecify.annotations.NullMarked;
