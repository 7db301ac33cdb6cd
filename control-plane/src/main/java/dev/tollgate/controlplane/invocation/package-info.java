/**
 * What one invocation of a function has: time, log, ports, and how steps and parallel tasks are
 * counted.
 */
@NullMarked
package dev.tollgate.controlplane.invocation;

import org.jspecify.annotations.NullMarked;
