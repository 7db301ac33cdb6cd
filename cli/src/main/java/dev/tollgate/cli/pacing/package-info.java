/** Sends many requests at a limited rate. Imports {@code http} and {@code terminal} only. */
@NullMarked
package dev.tollgate.cli.pacing;

import org.jspecify.annotations.NullMarked;
