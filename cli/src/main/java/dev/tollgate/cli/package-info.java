/** The command line: runs the local cloud and speaks to the APIs of any deployment. */
@NullMarked
package dev.tollgate.cli;

import org.jspecify.annotations.NullMarked;
