/**
 * Reads and writes attributes of DynamoDB rows, and the Idempotency table. May import core and aws.
 */
@NullMarked
package dev.tollgate.aws.dynamodb;

import org.jspecify.annotations.NullMarked;
