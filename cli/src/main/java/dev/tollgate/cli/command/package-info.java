/** The commands; picocli builds the command line from them. */
@NullMarked
package dev.tollgate.cli.command;

import org.jspecify.annotations.NullMarked;
