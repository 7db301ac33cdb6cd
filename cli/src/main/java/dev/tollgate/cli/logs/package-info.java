/** The command {@code tollgate logs}. */
@NullMarked
package dev.tollgate.cli.logs;

import org.jspecify.annotations.NullMarked;
