/**
 * Token buckets: their state, the refill arithmetic, and the ports that store them. May import
 * core.
 */
@NullMarked
package dev.tollgate.core.bucket;

import org.jspecify.annotations.NullMarked;
