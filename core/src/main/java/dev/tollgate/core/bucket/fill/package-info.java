/** Fills buckets and keeps their schedules. May import bucket and provisioning. */
@NullMarked
package dev.tollgate.core.bucket.fill;

import org.jspecify.annotations.NullMarked;
