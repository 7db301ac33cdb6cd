/** Fills buckets and updates their schedules. May import bucket, bucket.claim and provisioning. */
@NullMarked
package dev.tollgate.core.bucket.fill;

import org.jspecify.annotations.NullMarked;
