/**
 * Decides whether a connection is admitted, and counts it. May import session, tenant, and
 * bucket.claim.
 */
@NullMarked
package dev.tollgate.core.connect;

import org.jspecify.annotations.NullMarked;
