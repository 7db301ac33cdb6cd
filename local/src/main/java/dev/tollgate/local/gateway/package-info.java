/**
 * HTTP and WebSocket APIs, served as Amazon API Gateway serves them. May import {@code lambda},
 * {@code iam}, {@code sites} and {@code template}.
 */
@NullMarked
package dev.tollgate.local.gateway;

import org.jspecify.annotations.NullMarked;
