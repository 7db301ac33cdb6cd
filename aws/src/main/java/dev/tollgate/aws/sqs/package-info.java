/** Token queues and message queues in SQS. */
@NullMarked
package dev.tollgate.aws.sqs;

import org.jspecify.annotations.NullMarked;
