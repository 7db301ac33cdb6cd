/**
 * Stores and removes tiers, and rolls their changes out to tenants. May import core, invocation and
 * tenants.
 */
@NullMarked
package dev.tollgate.controlplane.tiers;

import org.jspecify.annotations.NullMarked;
