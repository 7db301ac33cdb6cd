/** Claims, spends and returns tokens. May import core and bucket. */
@NullMarked
package dev.tollgate.core.bucket.claim;

import org.jspecify.annotations.NullMarked;
