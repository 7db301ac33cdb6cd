/** Onboards, changes and offboards tenants. */
@NullMarked
package dev.tollgate.controlplane.tenants;

import org.jspecify.annotations.NullMarked;
