/**
 * Derives the accesses that a request needs, each an action on a resource. May import {@code iam},
 * {@code endpoint}, {@code template} and {@code json}.
 */
@NullMarked
package dev.tollgate.local.iam.access;

import org.jspecify.annotations.NullMarked;
