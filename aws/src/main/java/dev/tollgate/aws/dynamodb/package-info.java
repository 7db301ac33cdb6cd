/** Reads and writes attributes of DynamoDB rows; holds the Idempotency table. May import aws. */
@NullMarked
package dev.tollgate.aws.dynamodb;

import org.jspecify.annotations.NullMarked;
