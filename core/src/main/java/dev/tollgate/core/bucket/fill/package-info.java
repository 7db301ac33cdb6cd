/**
 * Fills buckets and updates their schedules. May import core, bucket, bucket.claim and
 * provisioning.
 */
@NullMarked
package dev.tollgate.core.bucket.fill;

import org.jspecify.annotations.NullMarked;
