/**
 * The resource types of API Gateway. An HTTP or WebSocket API consists of several resources. May
 * import the packages that {@code resources} may import.
 */
@NullMarked
package dev.tollgate.local.resources.api;

import org.jspecify.annotations.NullMarked;
