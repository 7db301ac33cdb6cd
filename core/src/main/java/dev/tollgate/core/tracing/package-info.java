/** Traces of handshakes and messages through several functions. */
@NullMarked
package dev.tollgate.core.tracing;

import org.jspecify.annotations.NullMarked;
