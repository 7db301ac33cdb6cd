/**
 * Processes messages: pays for them, calls the application, and delivers frames. May import core,
 * connect, session, tenant, bucket and bucket.claim.
 */
@NullMarked
package dev.tollgate.core.message;

import org.jspecify.annotations.NullMarked;
