/**
 * The functions of the control plane, an HTTP API and a sweep, and their wiring over AWS. May
 * import core, http, aws.config and every package of this module. No package may import this one.
 */
@NullMarked
package dev.tollgate.controlplane;

import org.jspecify.annotations.NullMarked;
