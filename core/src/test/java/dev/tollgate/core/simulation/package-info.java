/** A day of many tenants, simulated. */
@NullMarked
package dev.tollgate.core.simulation;

import org.jspecify.annotations.NullMarked;
