/** The function that serves the sample client and the operator page. */
@NullMarked
package dev.tollgate.console;

import org.jspecify.annotations.NullMarked;
