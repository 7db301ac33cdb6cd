/** Repairs counts and ends sessions that are over. May import session and tenant. */
@NullMarked
package dev.tollgate.core.housekeeping;

import org.jspecify.annotations.NullMarked;
