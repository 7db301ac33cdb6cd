/** Tenants, tiers and the limits that follow from them. */
@NullMarked
package dev.tollgate.core.tenant;

import org.jspecify.annotations.NullMarked;
