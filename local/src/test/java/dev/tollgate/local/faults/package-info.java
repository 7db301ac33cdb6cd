/** Tests of {@code dev.tollgate.local.faults}. */
@NullMarked
package dev.tollgate.local.faults;

import org.jspecify.annotations.NullMarked;
