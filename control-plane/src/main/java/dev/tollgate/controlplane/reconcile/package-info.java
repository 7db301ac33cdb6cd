/**
 * Creates, updates and removes the resources of a tenant according to its desired state. May import
 * core, invocation and silo.
 */
@NullMarked
package dev.tollgate.controlplane.reconcile;

import org.jspecify.annotations.NullMarked;
