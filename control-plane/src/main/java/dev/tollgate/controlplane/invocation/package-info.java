/**
 * What every use case of the control plane needs: the ports, and the time, the log and the parallel
 * tasks of an invocation. Import core here, no other package of this module.
 */
@NullMarked
package dev.tollgate.controlplane.invocation;

import org.jspecify.annotations.NullMarked;
