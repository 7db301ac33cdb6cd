/**
 * Token buckets: rates, the refill arithmetic, claims, and the ports to where tokens and ledgers
 * live.
 */
@NullMarked
package dev.tollgate.core.bucket;

import org.jspecify.annotations.NullMarked;
