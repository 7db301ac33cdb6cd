/** The Limit table: buckets, sessions, connection counts. */
@NullMarked
package dev.tollgate.aws.dynamodb.limit;

import org.jspecify.annotations.NullMarked;
