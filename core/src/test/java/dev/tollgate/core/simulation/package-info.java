/** Simulations of many tenants and of bursts, with laws checked throughout. */
@NullMarked
package dev.tollgate.core.simulation;

import org.jspecify.annotations.NullMarked;
