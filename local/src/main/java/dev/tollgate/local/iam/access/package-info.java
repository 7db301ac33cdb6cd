/**
 * Derives the accesses that a request to an AWS API needs. May import {@code iam}, {@code
 * endpoint}, {@code template} and {@code json}.
 */
@NullMarked
package dev.tollgate.local.iam.access;

import org.jspecify.annotations.NullMarked;
