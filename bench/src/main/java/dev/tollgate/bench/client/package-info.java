/**
 * Clients of a deployment's HTTP APIs and WebSockets. May import no other package of this module.
 */
@NullMarked
package dev.tollgate.bench.client;

import org.jspecify.annotations.NullMarked;
