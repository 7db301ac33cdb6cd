/**
 * The resource types of API Gateway: HTTP and WebSocket APIs are collected from several resources.
 * May import what {@code resources} may.
 */
@NullMarked
package dev.tollgate.local.resources.api;

import org.jspecify.annotations.NullMarked;
