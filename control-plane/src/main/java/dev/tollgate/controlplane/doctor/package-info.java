/** Finds drift and orphans, and repairs them. Import core, invocation and tenants here. */
@NullMarked
package dev.tollgate.controlplane.doctor;

import org.jspecify.annotations.NullMarked;
