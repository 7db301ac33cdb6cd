/** Finds drift and orphans, and repairs them. */
@NullMarked
package dev.tollgate.controlplane.doctor;

import org.jspecify.annotations.NullMarked;
