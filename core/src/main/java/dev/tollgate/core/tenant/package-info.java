/** Tenants, tiers, and the limits and buckets that follow from them. May import core and bucket. */
@NullMarked
package dev.tollgate.core.tenant;

import org.jspecify.annotations.NullMarked;
