/** Serves the sample client and the operator's page. */
@NullMarked
package dev.tollgate.console;

import org.jspecify.annotations.NullMarked;
