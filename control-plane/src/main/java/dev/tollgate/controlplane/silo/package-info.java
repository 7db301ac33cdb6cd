/**
 * Provides, drains and removes a tenant's own message queue and function. Import core and
 * invocation here.
 */
@NullMarked
package dev.tollgate.controlplane.silo;

import org.jspecify.annotations.NullMarked;
