/**
 * The Limit and Session tables: buckets, sessions, connection counts, silos, processed messages.
 * May import core, aws, aws.credentials, aws.dynamodb and aws.dynamodb.tenant.
 */
@NullMarked
package dev.tollgate.aws.dynamodb.limit;

import org.jspecify.annotations.NullMarked;
