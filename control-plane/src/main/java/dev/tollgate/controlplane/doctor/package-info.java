/** Finds drift and orphans, and repairs them. May import core, invocation and tenants. */
@NullMarked
package dev.tollgate.controlplane.doctor;

import org.jspecify.annotations.NullMarked;
