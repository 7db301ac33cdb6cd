/** Onboards, changes and offboards tenants. Import core, invocation and reconcile here. */
@NullMarked
package dev.tollgate.controlplane.tenants;

import org.jspecify.annotations.NullMarked;
