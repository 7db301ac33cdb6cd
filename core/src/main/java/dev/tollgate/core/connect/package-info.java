/**
 * Admits and registers connections, and counts refusals. May import core, session, tenant, bucket
 * and bucket.claim.
 */
@NullMarked
package dev.tollgate.core.connect;

import org.jspecify.annotations.NullMarked;
