/** A deployment as its operator and its clients see it: two HTTP APIs and WebSockets. */
@NullMarked
package dev.tollgate.bench.client;

import org.jspecify.annotations.NullMarked;
