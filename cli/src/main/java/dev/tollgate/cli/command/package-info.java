/** The commands and their options. Nothing else in this module may import this package. */
@NullMarked
package dev.tollgate.cli.command;

import org.jspecify.annotations.NullMarked;
