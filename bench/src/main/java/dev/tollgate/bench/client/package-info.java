/** Clients of a deployment's HTTP APIs and WebSockets. Imports no other package of this module. */
@NullMarked
package dev.tollgate.bench.client;

import org.jspecify.annotations.NullMarked;
