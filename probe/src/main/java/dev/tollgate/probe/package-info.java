/** The function of the probe stack. */
@NullMarked
package dev.tollgate.probe;

import org.jspecify.annotations.NullMarked;
