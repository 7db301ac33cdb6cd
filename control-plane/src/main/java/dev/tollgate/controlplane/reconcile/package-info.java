/** Brings a tenant's desired state about. */
@NullMarked
package dev.tollgate.controlplane.reconcile;

import org.jspecify.annotations.NullMarked;
