/** Stand-ins for the ports, and the contracts that they and the real adapters are held to. */
@NullMarked
package dev.tollgate.core.testing;

import org.jspecify.annotations.NullMarked;
