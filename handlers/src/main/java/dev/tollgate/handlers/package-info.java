/**
 * The session API, the connect authorizer, and the {@code $connect} and {@code $disconnect} routes.
 */
@NullMarked
package dev.tollgate.handlers;

import org.jspecify.annotations.NullMarked;
