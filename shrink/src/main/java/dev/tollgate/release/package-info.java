/** The build tool that writes the release archive. */
@NullMarked
package dev.tollgate.release;

import org.jspecify.annotations.NullMarked;
