/**
 * HTTP and WebSocket APIs, served as Amazon API Gateway serves them. May import {@code
 * gateway.mapping}, {@code hosts}, {@code iam}, {@code json}, {@code lambda}, {@code template} and
 * {@code threads}.
 */
@NullMarked
package dev.tollgate.local.gateway;

import org.jspecify.annotations.NullMarked;
