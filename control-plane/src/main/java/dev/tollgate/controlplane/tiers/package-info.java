/** Defines tiers and rolls them out. */
@NullMarked
package dev.tollgate.controlplane.tiers;

import org.jspecify.annotations.NullMarked;
