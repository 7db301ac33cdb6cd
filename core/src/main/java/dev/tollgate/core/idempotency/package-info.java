/** Executes a request once, however often a client sends it. May import core. */
@NullMarked
package dev.tollgate.core.idempotency;

import org.jspecify.annotations.NullMarked;
