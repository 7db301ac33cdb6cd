/** Requests that are done once, however often they are sent. */
@NullMarked
package dev.tollgate.core.idempotency;

import org.jspecify.annotations.NullMarked;
