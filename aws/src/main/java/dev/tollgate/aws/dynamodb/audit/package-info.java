/** The Audit table. May import core and aws.dynamodb. */
@NullMarked
package dev.tollgate.aws.dynamodb.audit;

import org.jspecify.annotations.NullMarked;
