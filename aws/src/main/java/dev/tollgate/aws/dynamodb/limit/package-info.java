/**
 * The Limit and Session tables: buckets, sessions, connection counts, silos, processed messages.
 * May import aws.dynamodb.tenant and aws.credentials.
 */
@NullMarked
package dev.tollgate.aws.dynamodb.limit;

import org.jspecify.annotations.NullMarked;
