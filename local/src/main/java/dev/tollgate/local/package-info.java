/**
 * The synthesized stack on one machine: {@link dev.tollgate.local.LocalCloud} brings up what its
 * template says.
 */
@NullMarked
package dev.tollgate.local;

import org.jspecify.annotations.NullMarked;
