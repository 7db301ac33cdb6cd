/** Sends many requests at a bounded rate. */
@NullMarked
package dev.tollgate.cli.pacing;

import org.jspecify.annotations.NullMarked;
