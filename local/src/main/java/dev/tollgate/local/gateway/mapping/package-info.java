/**
 * The integrations of WebSocket routes, with the mapping templates of those that call AWS services.
 * Imports {@code json} only.
 */
@NullMarked
package dev.tollgate.local.gateway.mapping;

import org.jspecify.annotations.NullMarked;
