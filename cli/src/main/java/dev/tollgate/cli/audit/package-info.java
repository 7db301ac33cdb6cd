/** The command {@code tollgate audit}. */
@NullMarked
package dev.tollgate.cli.audit;

import org.jspecify.annotations.NullMarked;
