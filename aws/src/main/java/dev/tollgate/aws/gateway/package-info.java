/** WebSocket connections over the API Gateway management API. May import core and aws. */
@NullMarked
package dev.tollgate.aws.gateway;

import org.jspecify.annotations.NullMarked;
