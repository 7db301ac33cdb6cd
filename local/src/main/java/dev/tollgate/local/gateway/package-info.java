/** HTTP and WebSocket APIs served on this machine as Amazon API Gateway would serve them. */
@NullMarked
package dev.tollgate.local.gateway;

import org.jspecify.annotations.NullMarked;
