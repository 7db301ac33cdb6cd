/** Clients that measure a running deployment from outside, over HTTP and WebSockets. */
@NullMarked
package dev.tollgate.bench;

import org.jspecify.annotations.NullMarked;
