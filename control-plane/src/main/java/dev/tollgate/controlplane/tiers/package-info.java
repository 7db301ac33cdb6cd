/** Puts and removes tiers, and rolls them out. Import core, invocation and tenants here. */
@NullMarked
package dev.tollgate.controlplane.tiers;

import org.jspecify.annotations.NullMarked;
