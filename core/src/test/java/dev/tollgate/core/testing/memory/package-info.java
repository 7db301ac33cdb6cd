/** In-memory implementations of the ports. May import core and testing. */
@NullMarked
package dev.tollgate.core.testing.memory;

import org.jspecify.annotations.NullMarked;
