/** A tenant's own message queue and function. */
@NullMarked
package dev.tollgate.controlplane.silo;

import org.jspecify.annotations.NullMarked;
