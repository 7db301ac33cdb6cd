/**
 * The functions of the control plane, an HTTP API and a sweep, and their wiring over AWS. Import
 * any package of this module here; no other package may import this one.
 */
@NullMarked
package dev.tollgate.controlplane;

import org.jspecify.annotations.NullMarked;
