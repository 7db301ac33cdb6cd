/**
 * Provides and removes what a tenant's desired state needs. Import core, invocation and silo here.
 */
@NullMarked
package dev.tollgate.controlplane.reconcile;

import org.jspecify.annotations.NullMarked;
