/** The command {@code tollgate trace}. */
@NullMarked
package dev.tollgate.cli.trace;

import org.jspecify.annotations.NullMarked;
