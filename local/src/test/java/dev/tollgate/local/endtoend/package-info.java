/** The stack as it is deployed, used as its users would. */
@NullMarked
package dev.tollgate.local.endtoend;

import org.jspecify.annotations.NullMarked;
