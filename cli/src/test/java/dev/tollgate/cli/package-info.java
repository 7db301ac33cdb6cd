/** Tests of the command line. */
@NullMarked
package dev.tollgate.cli;

import org.jspecify.annotations.NullMarked;
