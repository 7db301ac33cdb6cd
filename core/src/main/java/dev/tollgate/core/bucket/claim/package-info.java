/** Claims tokens of a bucket. May import bucket. */
@NullMarked
package dev.tollgate.core.bucket.claim;

import org.jspecify.annotations.NullMarked;
