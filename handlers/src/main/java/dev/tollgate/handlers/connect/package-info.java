/**
 * The functions that open and close connections: the connect authorizer, {@code $connect} and
 * {@code $disconnect}. May import core and handlers.
 */
@NullMarked
package dev.tollgate.handlers.connect;

import org.jspecify.annotations.NullMarked;
