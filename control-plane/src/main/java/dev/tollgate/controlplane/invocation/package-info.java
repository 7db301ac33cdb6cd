/**
 * The ports of the control plane, and the time, the log and the parallel tasks of an invocation,
 * for all its use cases. May import core, no other package of this module.
 */
@NullMarked
package dev.tollgate.controlplane.invocation;

import org.jspecify.annotations.NullMarked;
