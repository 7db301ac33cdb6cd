/** Onboards, changes and offboards tenants. May import core, invocation and reconcile. */
@NullMarked
package dev.tollgate.controlplane.tenants;

import org.jspecify.annotations.NullMarked;
