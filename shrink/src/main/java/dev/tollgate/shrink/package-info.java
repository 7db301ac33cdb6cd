/** A build tool that removes from a function's jar what the function cannot reach. */
@NullMarked
package dev.tollgate.shrink;

import org.jspecify.annotations.NullMarked;
