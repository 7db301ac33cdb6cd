/**
 * Provides, drains and removes a tenant's own message queue and function. May import core and
 * invocation.
 */
@NullMarked
package dev.tollgate.controlplane.silo;

import org.jspecify.annotations.NullMarked;
